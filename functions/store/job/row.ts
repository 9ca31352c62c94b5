import { type JobState, monthDate, type Slice } from '../../contract/words.ts'
import type { Reader } from '../mysql/tx.ts'

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
export const newestJob = async (reader: Reader, slice: Slice): Promise<JobRow | undefined> => {
  const rows = await reader.rows<JobRow>(
    `select ${JOB_COLUMNS} from job where distributor_id = ? and settlement_month = ? order by fence desc limit 1`,
    [slice.distributorId, monthDate(slice.month)],
  )
  return rows[0]
}

/**
 * True where some job of the distributor had this staged source: it was validated under the distributor's own rules.
 */
export const knowsSource = async (reader: Reader, distributorId: number, digest: string): Promise<boolean> => {
  const rows = await reader.rows('select 1 from job where distributor_id = ? and source_digest = ? limit 1', [
    distributorId,
    digest,
  ])
  return rows.length > 0
}

export const readJob = async (reader: Reader, id: number): Promise<JobRow | undefined> => {
  const rows = await reader.rows<JobRow>(`select ${JOB_COLUMNS} from job where id = ?`, [id])
  return rows[0]
}

/**
 * The job that an execution opened last, if nobody overtook it: running still, or REGISTERED. With its slice's names.
 */
export const jobOfExecution = async (
  reader: Reader,
  execution: string,
): Promise<(JobRow & { distributor: string; month: string }) | undefined> => {
  const rows = await reader.rows<JobRow & { distributor: string; month: string }>(
    `select j.${JOB_COLUMNS}, d.code as distributor,
            date_format(settlement_month, '%Y-%m') as month
     from job j join distributor d on d.id = j.distributor_id
     where execution = ? and closed_at is null and halted_at is null order by j.id desc limit 1`,
    [execution],
  )
  return rows[0]
}

/** Milliseconds since the job was opened for the run that ends now: about as long as it held the lock. */
export const heldMs = async (reader: Reader, id: number): Promise<number> => {
  const [row] = await reader.rows<{ ms: string }>(
    'select timestampdiff(microsecond, opened_at, current_timestamp(6)) / 1000 as ms from job where id = ?',
    [id],
  )
  return Number(row?.ms ?? 0)
}
