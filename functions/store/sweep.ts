import { SWEEP_JOBS_MAX, SWEEP_QUIET_S } from '../contract/limits.ts'
import type { JobState } from '../contract/words.ts'
import type { Database } from './database.ts'

export type QuietJob = {
  readonly id: number
  readonly state: JobState
  readonly fence: number
  readonly execution: string
  readonly distributor: string
  readonly month: string
  readonly quietS: number
}

/** When the job `j` was opened, moved or marked last. */
export const PROGRESS_AT = `greatest(j.opened_at, coalesce(j.deleted_at, j.opened_at), coalesce(j.registering_at, j.opened_at),
  coalesce((select max(c.marked_at) from job_chunk c where c.job_id = j.id), j.opened_at))`

/**
 * Open jobs that nobody halted and that made no progress for a while: no transition and no mark in the ledger. The
 * longest quiet ones come first.
 */
export const quietJobs = async (database: Database, quietS: number = SWEEP_QUIET_S): Promise<QuietJob[]> =>
  database.rows<QuietJob>(
    `select q.id, q.state, q.fence, q.execution, q.distributor, q.month,
            timestampdiff(second, q.progress_at, current_timestamp(6)) as quietS
     from (select j.id, j.state, j.fence, j.execution, d.code as distributor,
                  date_format(j.settlement_month, '%Y-%m') as month,
                  ${PROGRESS_AT} as progress_at
           from job j join distributor d on d.id = j.distributor_id
           where j.open_slice = 1 and j.halted_at is null) q
     where q.progress_at < current_timestamp(6) - interval ? second
     order by q.progress_at limit ?`,
    [quietS, SWEEP_JOBS_MAX],
  )

export type Standing = {
  readonly open: number
  readonly halted: number
  /** Of the oldest event that waits for its turn; null where none does. */
  readonly outboxAgeS: number | null
  /** Events that the topic refused, and that are tried again later. */
  readonly setAside: number
  /** The moment, in UTC, at which a job was REGISTERED last; null before the first. */
  readonly registeredAt: string | null
}

/** What the system as a whole stands at, for the metrics that no single run can emit. */
export const standing = async (database: Database): Promise<Standing> => {
  const [row] = await database.rows<Standing>(
    `select (select count(*) from job where open_slice = 1) as open,
            (select count(*) from job where open_slice = 1 and halted_at is not null) as halted,
            (select timestampdiff(second, min(created_at), current_timestamp(6))
             from outbox where published_at is null and set_aside_until is null) as outboxAgeS,
            (select count(*) from outbox where published_at is null and set_aside_until is not null) as setAside,
            (select max(registered_at) from job) as registeredAt`,
  )
  return row ?? { open: 0, halted: 0, outboxAgeS: null, setAside: 0, registeredAt: null }
}
