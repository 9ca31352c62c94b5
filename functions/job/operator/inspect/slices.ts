import { Failure } from '../../../contract/failures.ts'
import type { SliceLine } from '../../../contract/reports.ts'
import { SLICES_SHOWN_MAX } from '../../../contract/support-limits.ts'
import type { NamedJob } from '../../../store/job/row.ts'
import { lineOf, newestJobs } from '../../../store/job/slice-lines.ts'
import { reading } from '../../../store/mysql/transaction.ts'
import type { Reader } from '../../../store/mysql/tx.ts'
import type { TaskContext } from '../../task.ts'

export type MonthRange = { readonly from: string; readonly to: string }

/** The newest job of each slice of the range; refused whole rather than cut, for a list with gaps misleads. */
export const newestOf = async (reader: Reader, range: MonthRange): Promise<NamedJob[]> => {
  const jobs = await newestJobs(reader, range, SLICES_SHOWN_MAX + 1)
  if (jobs.length <= SLICES_SHOWN_MAX) return jobs
  throw new Failure(
    'InvalidInput',
    `From ${range.from} to ${range.to} there are more than ${SLICES_SHOWN_MAX} slices; ask for fewer months`,
  )
}

/** One line for each slice that ever had a job, newest month first. */
export const slices = async (context: TaskContext, range: MonthRange): Promise<SliceLine[]> =>
  (await reading(context.database, (reader) => newestOf(reader, range))).map(lineOf)
