import { bar, count, duration, percent } from '../format/text.ts'
import { OPERATION_ERRORS, type Progress } from '../operations/operations.ts'
import { kindOfEnd } from '../operations/remedies.ts'
import type { Output } from './output.ts'

const isOpen = ({ job }: Progress): boolean => job?.status === 'being replaced' || job?.status === 'halted'

/** One line: `ARIA 2026-10  RegisterChunks  job 3, fence 1  [####....]  52 %  420,000 of 800,000 rows ...`. */
export const progressText = (progress: Progress): string => {
  const { distributor, month, at, job, rowsPerS, secondsLeft, trouble } = progress
  const phase = job?.state === 'DELETING' ? job.delete : job?.state === 'REGISTERING' ? job.register : null
  const parts = [`${distributor} ${month}`, at ?? 'starting']
  if (job !== null) parts.push(`job ${job.job}, fence ${job.fence}`)
  if (phase !== null && phase.rows > 0) {
    const { rowsMarked, rows } = phase
    parts.push(bar(rowsMarked, rows), percent(rowsMarked, rows), `${count(rowsMarked)} of ${count(rows)} rows`)
  }
  if (rowsPerS !== null) parts.push(`${count(rowsPerS)} rows/s`)
  if (secondsLeft !== null) parts.push(`${duration(secondsLeft)} left`)
  if (trouble !== null) parts.push(`(${trouble})`)
  return parts.join('  ')
}

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
