import type { SliceReport } from '../../functions/contract/reports.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { OperationError } from './operation-error.ts'

/** The job whose set readers see, and which may be withdrawn. @throws OperationError NotFound */
export const shownJob = ({ active, jobs: [newest], ...slice }: SliceReport): number => {
  if (active !== null) return active
  // Asked again because the answer to the first request was lost: it is answered that the set is withdrawn already.
  if (newest?.status === 'withdrawn') return newest.job
  throw new OperationError('NotFound', `Readers see no set of ${sliceName(slice)}, so there is nothing to withdraw.`)
}
