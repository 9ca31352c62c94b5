import { kindOfEnd } from '../operations/failures.ts'
import { OPERATION_ERRORS } from '../operations/operation-error.ts'
import type { Progress } from '../operations/progress.ts'
import type { Output } from './output.ts'

const isOpen = ({ job }: Progress): boolean => job?.status === 'being replaced' || job?.status === 'halted'

/** How a run ended, with the way on where it failed. */
export const endLines = (out: Output, progress: Progress): string[] => {
  const { distributor, month, failure, result } = progress
  const slice = `${distributor} ${month}`
  if (failure === null) return [`${slice}: ${out.style('green', result ?? 'succeeded')}`]
  return [
    `${slice}: ${out.style('red', `ended by ${failure.error}`)}`,
    `  ${failure.cause}`,
    `  ${out.style('bold', failure.remedy)}`,
  ]
}

/** The exit code after waiting for the end of a run. */
export const exitCodeOf = (progress: Progress): number =>
  progress.failure === null ? 0 : OPERATION_ERRORS[kindOfEnd(progress.failure.error, isOpen(progress))]
