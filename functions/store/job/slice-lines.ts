import type { SliceLine } from '../../contract/reports.ts'
import { type JobState, monthDate, type SliceStatus } from '../../contract/words.ts'
import { isoTime, isoTimeOrNull } from '../mysql/time.ts'
import type { Reader } from '../mysql/tx.ts'
import { PROGRESS_AT } from './quiet.ts'

/** A slice's newest job, as the lines of a list are made of it. */
export type NewestJob = {
  readonly id: number
  readonly distributor: string
  readonly month: string
  readonly state: JobState
  readonly fence: number
  readonly execution: string
  readonly requested_by: string
  readonly lock_token: string | null
  readonly source_digest: string
  readonly source_rows: number
  readonly source_share_sum: string
  readonly opened_at: string
  readonly registered_at: string | null
  readonly halted_at: string | null
  readonly halt_error: string | null
}

const COLUMNS = `j.id, d.code as distributor, date_format(j.settlement_month, '%Y-%m') as month, j.state, j.fence,
  j.execution, j.requested_by, j.lock_token, j.source_digest, j.source_rows, j.source_share_sum, j.opened_at,
  j.registered_at, j.halted_at, j.halt_error`

/** What readers may make of a slice with this newest job; the view slice_status says the same. */
export const statusOf = (job: Pick<NewestJob, 'state' | 'halted_at'>): SliceStatus => {
  if (job.state === 'REGISTERED') return 'settled'
  return job.halted_at === null ? 'being replaced' : 'halted'
}

export const lineOf = (job: NewestJob): SliceLine => ({
  distributor: job.distributor,
  month: job.month,
  job: job.id,
  state: job.state,
  status: statusOf(job),
  fence: job.fence,
  execution: job.execution,
  requestedBy: job.requested_by,
  rows: job.source_rows,
  openedAt: isoTime(job.opened_at),
  registeredAt: isoTimeOrNull(job.registered_at),
  haltedAt: isoTimeOrNull(job.halted_at),
  haltError: job.halt_error,
})

/**
 * The newest job of every slice of some months, newest month first. Each slice that there may be is looked up backwards
 * from the end of its key (slice, fence): one row is read of it, however many jobs it had. The order names the whole key,
 * for by the fence alone MySQL reads and sorts the slice's jobs.
 *
 * @param limit rows at most; the caller asks for one more than it takes, to know that there are more
 */
export const newestJobs = async (
  reader: Reader,
  { from, to }: { readonly from: string; readonly to: string },
  limit: number,
): Promise<NewestJob[]> =>
  reader.rows<NewestJob>(
    `with recursive months (first_day) as (
       select cast(? as date)
       union all
       select first_day + interval 1 month from months where first_day < ?)
     select ${COLUMNS}
     from months cross join distributor d
     join lateral (select n.id from job n
                   where n.distributor_id = d.id and n.settlement_month = months.first_day
                   order by n.distributor_id desc, n.settlement_month desc, n.fence desc limit 1) newest
     join job j on j.id = newest.id
     order by months.first_day desc, d.code limit ?`,
    [monthDate(from), monthDate(to), limit],
  )

/** Open jobs, halted or not, with the seconds since their last transition or mark; the longest quiet ones first. */
export const openJobs = async (reader: Reader, limit: number): Promise<(NewestJob & { quietS: number })[]> =>
  reader.rows<NewestJob & { quietS: number }>(
    `select ${COLUMNS}, timestampdiff(second, ${PROGRESS_AT}, current_timestamp(6)) as quietS
     from job j join distributor d on d.id = j.distributor_id
     where j.open_slice = 1 order by quietS desc, j.id limit ?`,
    [limit],
  )
