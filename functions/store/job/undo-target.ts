import { monthDate, type Slice } from '../../contract/words.ts'
import type { Reader } from '../mysql/tx.ts'
import { isOpen } from './predicates.ts'
import { JOB_COLUMNS, type JobRow, newestJob } from './row.ts'

/**
 * The job whose set an undo registers again; undefined where there is none. The one place that decides it: StageSource
 * asks when the run begins, OpenJob in its own transaction, and Inspect for the plan of an undo.
 *
 * - A, B, B forced again:        A, the last REGISTERED set that is not the one registered now
 * - A, B, C open or closed:      B, what the newest job was to replace, whatever set that job has
 * - A, B, an undo to A open:     A, since the same request again goes on with it
 * - A, B, B withdrawn:           B, which is shown again
 * See decisions.md, "Undo is "the REGISTERED set before the newest job"".
 */
export const undoTarget = async (reader: Reader, slice: Slice): Promise<JobRow | undefined> => {
  const newest = await newestJob(reader, slice)
  if (newest === undefined || newest.withdrawn_at !== null || (isOpen(newest) && newest.is_undo === 1)) return newest
  // No digest is empty: then every REGISTERED set before the newest job differs.
  const registeredNow = newest.state === 'REGISTERED' ? newest.source_digest : ''
  const rows = await reader.rows<JobRow>(
    `select ${JOB_COLUMNS} from job j
     where j.distributor_id = ? and j.settlement_month = ? and j.state = 'REGISTERED' and j.fence < ?
       and j.source_digest <> ?
     order by j.fence desc limit 1`,
    [slice.distributorId, monthDate(slice.month), newest.fence, registeredNow],
  )
  return rows[0]
}
