import type { SliceLine } from '../../contract/reports.ts'
import { monthDate } from '../../contract/words.ts'
import { isoTime, isoTimeOrNull } from '../mysql/time.ts'
import type { Reader } from '../mysql/tx.ts'
import { statusOf } from './predicates.ts'
import { PROGRESS_AT } from './quiet-jobs.ts'
import { NAMED_JOB_COLUMNS, type NamedJob } from './row.ts'

export const lineOf = (job: NamedJob): SliceLine => ({
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
 * See decisions.md, "The newest job of a slice is looked up, not grouped".
 *
 * @param limit rows at most; the caller asks for one more than it takes, to know that there are more
 */
export const newestJobs = async (
  reader: Reader,
  { from, to }: { readonly from: string; readonly to: string },
  limit: number,
): Promise<NamedJob[]> =>
  reader.rows<NamedJob>(
    `with recursive months (first_day) as (
       select cast(? as date)
       union all
       select first_day + interval 1 month from months where first_day < ?)
     select ${NAMED_JOB_COLUMNS}
     from months cross join distributor d
     join lateral (select n.id from job n
                   where n.distributor_id = d.id and n.settlement_month = months.first_day
                   order by n.distributor_id desc, n.settlement_month desc, n.fence desc limit 1) newest
     join job j on j.id = newest.id
     order by months.first_day desc, d.code limit ?`,
    [monthDate(from), monthDate(to), limit],
  )

/** The jobs whose sets readers see in some months, newest month first. */
export const shownJobs = async (
  reader: Reader,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<NamedJob[]> =>
  reader.rows<NamedJob>(
    `select ${NAMED_JOB_COLUMNS}
     from active_set a join job j on j.id = a.job_id join distributor d on d.id = j.distributor_id
     where a.settlement_month between ? and ? order by a.settlement_month desc, d.code`,
    [monthDate(from), monthDate(to)],
  )

/** Open jobs, halted or not, with the seconds since their last transition or mark; the longest quiet ones first. */
export const openJobs = async (reader: Reader, limit: number): Promise<(NamedJob & { quietS: number })[]> =>
  reader.rows<NamedJob & { quietS: number }>(
    `select ${NAMED_JOB_COLUMNS}, timestampdiff(second, ${PROGRESS_AT}, current_timestamp(6)) as quietS
     from job j join distributor d on d.id = j.distributor_id
     where j.open_slice = 1 order by quietS desc, j.id limit ?`,
    [limit],
  )
