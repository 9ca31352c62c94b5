import { fitting } from '../../contract/fitting.ts'
import { CALLER_CHARS_MAX, HALT_CAUSE_CHARS_MAX, HALT_ERROR_CHARS_MAX } from '../../contract/limits.ts'
import type { Staged } from '../../contract/messages.ts'
import { type JobState, monthDate, type Slice } from '../../contract/words.ts'
import type { Database } from '../mysql/database.ts'
import type { Life } from './execution.ts'

/** The columns of a job row that decide what may happen next. */
export type JobRow = {
  readonly id: number
  readonly state: JobState
  readonly fence: number
  readonly lock_token: string | null
  readonly execution: string
  /** When that execution was started, in ms since 1970 by Step Functions' clock. */
  readonly execution_started_ms: number
  /** How often it had been redriven when it opened the job. */
  readonly execution_redrives: number
  readonly source_digest: string
  readonly source_rows: number
  readonly source_share_sum: string
  readonly delete_plans: number
  readonly halted_at: string | null
  readonly halt_error: string | null
  readonly closed_at: string | null
  readonly requested_by: string
  readonly is_undo: number
}

export const JOB_COLUMNS = `id, state, fence, lock_token, execution, execution_started_ms, execution_redrives, source_digest,
  source_rows, source_share_sum, delete_plans, halted_at, halt_error, closed_at, requested_by, is_undo`

export const isOpen = (job: JobRow): boolean => job.state !== 'REGISTERED' && job.closed_at === null

/** The newest job of a slice: the one with the highest fence. */
export const newestJob = async (database: Database, slice: Slice): Promise<JobRow | undefined> => {
  const rows = await database.rows<JobRow>(
    `select ${JOB_COLUMNS} from job where distributor_id = ? and settlement_month = ? order by fence desc limit 1`,
    [slice.distributorId, monthDate(slice.month)],
  )
  return rows[0]
}

/**
 * True where some job of the distributor had this staged source: it was validated under the distributor's own rules.
 */
export const knowsSource = async (database: Database, distributorId: number, digest: string): Promise<boolean> => {
  const rows = await database.rows('select 1 from job where distributor_id = ? and source_digest = ? limit 1', [
    distributorId,
    digest,
  ])
  return rows.length > 0
}

export const readJob = async (database: Database, id: number): Promise<JobRow | undefined> => {
  const rows = await database.rows<JobRow>(`select ${JOB_COLUMNS} from job where id = ?`, [id])
  return rows[0]
}

/**
 * The job that an execution opened last, if nobody overtook it: running still, or REGISTERED. With its slice's names.
 */
export const jobOfExecution = async (
  database: Database,
  execution: string,
): Promise<(JobRow & { distributor: string; month: string }) | undefined> => {
  const rows = await database.rows<JobRow & { distributor: string; month: string }>(
    `select j.${JOB_COLUMNS}, d.code as distributor,
            date_format(settlement_month, '%Y-%m') as month
     from job j join distributor d on d.id = j.distributor_id
     where execution = ? and closed_at is null and halted_at is null order by j.id desc limit 1`,
    [execution],
  )
  return rows[0]
}

/** Who opens a job, and for which source. */
export type Opening = {
  readonly token: string
  readonly execution: string
  readonly life: Life
  readonly requestedBy: string
  readonly staged: Staged
  readonly undo: boolean
}

/** Inserts a job in DELETING. 1062 on a unique key says that another run was faster. */
export const insertJob = async (
  database: Database,
  slice: Slice,
  fence: number,
  opening: Opening,
): Promise<{ id: number }> => {
  const result = await database.change(
    `insert into job (distributor_id, settlement_month, state, fence, lock_token, execution, execution_started_ms,
                      execution_redrives, requested_by, source_digest, source_rows, source_share_sum, is_undo)
     values (?, ?, 'DELETING', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      slice.distributorId,
      monthDate(slice.month),
      fence,
      opening.token,
      opening.execution,
      opening.life.startedMs,
      opening.life.redrives,
      fitting(opening.requestedBy, CALLER_CHARS_MAX),
      opening.staged.digest,
      opening.staged.rows,
      opening.staged.shareSum,
      opening.undo ? 1 : 0,
    ],
  )
  return { id: result.insertId }
}

/**
 * Issues the next fence of an open job to a new holder. Fence and token in the WHERE are the compare of the
 * compare-and-set. Delete plans count anew: a stranger who kept one opening from its end is not held against the next.
 */
export const takeOverJob = async (database: Database, job: JobRow, opening: Opening): Promise<boolean> => {
  const result = await database.change(
    `update job set fence = fence + 1, lock_token = ?, execution = ?, execution_started_ms = ?, execution_redrives = ?,
            requested_by = ?, opened_at = current_timestamp(6), delete_plans = 0,
            halted_at = null, halt_error = null, halt_cause = null
     where id = ? and fence = ? and lock_token <=> ? and open_slice = 1`,
    [
      opening.token,
      opening.execution,
      opening.life.startedMs,
      opening.life.redrives,
      fitting(opening.requestedBy, CALLER_CHARS_MAX),
      job.id,
      job.fence,
      job.lock_token,
    ],
  )
  return result.affectedRows === 1
}

/** Closes an open job for good: its fence is raised, so a worker that still runs it writes nothing more. */
export const closeJob = async (database: Database, job: JobRow): Promise<boolean> => {
  const result = await database.change(
    `update job set fence = fence + 1, lock_token = null, closed_at = current_timestamp(6)
     where id = ? and fence = ? and lock_token <=> ? and open_slice = 1`,
    [job.id, job.fence, job.lock_token],
  )
  return result.affectedRows === 1
}

/** Raises the fence and records the halt, where the row still is under this fence and token. */
export const haltJob = async (
  database: Database,
  job: Pick<JobRow, 'id' | 'fence' | 'lock_token'>,
  error: string,
  cause: string,
): Promise<boolean> => {
  const result = await database.change(
    `update job set fence = fence + 1, lock_token = null, halted_at = current_timestamp(6), halt_error = ?, halt_cause = ?
     where id = ? and fence = ? and lock_token <=> ? and open_slice = 1`,
    [fitting(error, HALT_ERROR_CHARS_MAX), fitting(cause, HALT_CAUSE_CHARS_MAX), job.id, job.fence, job.lock_token],
  )
  return result.affectedRows === 1
}

/** Milliseconds since the job was opened for the run that ends now: about as long as it held the lock. */
export const heldMs = async (database: Database, id: number): Promise<number> => {
  const [row] = await database.rows<{ ms: string }>(
    'select timestampdiff(microsecond, opened_at, current_timestamp(6)) / 1000 as ms from job where id = ?',
    [id],
  )
  return Number(row?.ms ?? 0)
}
