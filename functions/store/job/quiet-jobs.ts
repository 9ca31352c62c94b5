import { SWEEP_JOBS_MAX, SWEEP_QUIET_S } from '../../contract/support-limits.ts'
import type { Reader } from '../mysql/tx.ts'
import { SAME_START_MS } from './execution.ts'
import { NAMED_JOB_COLUMNS, type NamedJob } from './row.ts'

export type QuietJob = NamedJob & {
  readonly quietS: number
  /** When it made progress last; with the id, its place among the quiet jobs. */
  readonly progressAt: string
}

/** When the job `j` was opened, moved or marked last. */
export const PROGRESS_AT = `greatest(j.opened_at, coalesce(j.deleted_at, j.opened_at), coalesce(j.registering_at, j.opened_at),
  coalesce((select max(c.marked_at) from job_chunk c where c.job_id = j.id), j.opened_at))`

/** Whether the execution of the job `j` is known to have ended, in the life that opened it (see execution.ts). */
const ENDED = `exists (select 1 from execution e
  where e.name = substring_index(j.execution, ':', -1)
    and abs(cast(e.ended_started_ms as signed) - cast(j.execution_started_ms as signed)) < ${SAME_START_MS}
    and j.execution_redrives <= e.ended_redrives)`

/**
 * Open jobs that nobody halted and nobody works on: those that made no progress for a while (no transition and no mark
 * in the ledger), and those whose execution has ended. The longest quiet ones come first, a page of SWEEP_JOBS_MAX.
 *
 * @param after the last one of the page before
 */
export const quietJobs = async (
  reader: Reader,
  quietS: number = SWEEP_QUIET_S,
  after: Pick<QuietJob, 'progressAt' | 'id'> = { progressAt: '1970-01-02', id: 0 },
): Promise<QuietJob[]> =>
  reader.rows<QuietJob>(
    `select ${NAMED_JOB_COLUMNS}, p.progressAt, timestampdiff(second, p.progressAt, current_timestamp(6)) as quietS
     from job j join distributor d on d.id = j.distributor_id
     join lateral (select ${PROGRESS_AT} as progressAt) p
     where j.open_slice = 1 and j.halted_at is null
       and (p.progressAt < current_timestamp(6) - interval ? second or ${ENDED})
       and (p.progressAt > ? or (p.progressAt = ? and j.id > ?))
     order by p.progressAt, j.id limit ?`,
    [quietS, after.progressAt, after.progressAt, after.id, SWEEP_JOBS_MAX],
  )

export type Backlog = {
  readonly open: number
  readonly halted: number
  /** Of the oldest job that is not halted, since it was opened or taken over; null where none runs. */
  readonly runningAgeS: number | null
  /** Of the oldest event that waits for its turn; null where none does. */
  readonly outboxAgeS: number | null
  /** Events that the topic refused, and that are tried again later. */
  readonly setAside: number
}

/** How far the system as a whole is, for the metrics that no single run can emit. */
export const readBacklog = async (reader: Reader): Promise<Backlog> => {
  const [row] = await reader.rows<Backlog>(
    `select (select count(*) from job where open_slice = 1) as open,
            (select count(*) from job where open_slice = 1 and halted_at is not null) as halted,
            (select timestampdiff(second, min(opened_at), current_timestamp(6))
             from job where open_slice = 1 and halted_at is null) as runningAgeS,
            (select timestampdiff(second, min(created_at), current_timestamp(6))
             from outbox where published_at is null and set_aside_until is null) as outboxAgeS,
            (select count(*) from outbox where published_at is null and set_aside_until is not null) as setAside`,
  )
  return row ?? { open: 0, halted: 0, runningAgeS: null, outboxAgeS: null, setAside: 0 }
}
