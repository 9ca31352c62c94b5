import { type JobState, monthDate, type Slice, type SlotKey } from '../../contract/words.ts'
import type { Reader } from '../mysql/tx.ts'

/** A job's row, with the key of its slot. Moments are MySQL's text in UTC. */
export type JobRow = SlotKey & {
  readonly id: number
  readonly state: JobState
  readonly fence: number
  readonly lock_token: string | null
  readonly execution: string
  /** When that execution was started, in ms since 1970 by Step Functions' clock. */
  readonly execution_started_ms: number
  /** How often it had been redriven when it opened the job. */
  readonly execution_redrives: number
  readonly requested_by: string
  readonly source_digest: string
  readonly source_rows: number
  readonly source_share_sum: string
  readonly is_undo: number
  readonly delete_plans: number
  readonly created_at: string
  readonly opened_at: string
  readonly deleted_at: string | null
  readonly registering_at: string | null
  readonly registered_at: string | null
  readonly halted_at: string | null
  readonly halt_error: string | null
  readonly halt_cause: string | null
  readonly closed_at: string | null
  /** 1: the slot holds the wanted set already, as far as OpenJob could tell. */
  readonly reuses_set: number
  readonly withdrawn_at: string | null
  /** Whose locks the switch waits for, and since when. */
  readonly waits_for: string | null
  readonly waiting_since: string | null
}

/** A SlotKey, from `job j`. */
export const SLOT_KEY_COLUMNS = `j.distributor_id as distributorId, date_format(j.settlement_month, '%Y-%m') as month, j.slot`

/** What every query of jobs selects, from `job j`. */
export const JOB_COLUMNS = `${SLOT_KEY_COLUMNS}, j.id, j.state, j.fence, j.lock_token, j.execution, j.execution_started_ms, j.execution_redrives,
  j.requested_by, j.source_digest, j.source_rows, j.source_share_sum, j.is_undo, j.delete_plans,
  j.created_at, j.opened_at, j.deleted_at, j.registering_at, j.registered_at,
  j.halted_at, j.halt_error, j.halt_cause, j.closed_at, j.reuses_set, j.withdrawn_at, j.waits_for, j.waiting_since`

/** A job with the names of its slice. */
export type NamedJob = JobRow & Pick<Slice, 'distributor'>

/** The same with the names of its slice, from `job j join distributor d`. */
export const NAMED_JOB_COLUMNS = `${JOB_COLUMNS}, d.code as distributor`

/** The newest job of a slice: the one with the highest fence. */
export const newestJob = async (reader: Reader, slice: Slice): Promise<JobRow | undefined> => {
  const rows = await reader.rows<JobRow>(
    `select ${JOB_COLUMNS} from job j where j.distributor_id = ? and j.settlement_month = ? order by j.fence desc limit 1`,
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

/** The job that wrote a slot last, or still does; undefined where none ever did. */
export const lastJobOfSlot = async (
  reader: Reader,
  { distributorId, month, slot }: SlotKey,
): Promise<JobRow | undefined> => {
  const rows = await reader.rows<JobRow>(
    `select ${JOB_COLUMNS} from job j
     where j.distributor_id = ? and j.settlement_month = ? and j.slot = ? order by j.fence desc limit 1`,
    [distributorId, monthDate(month), slot],
  )
  return rows[0]
}

export const readJob = async (reader: Reader, id: number): Promise<JobRow | undefined> => {
  const rows = await reader.rows<JobRow>(`select ${JOB_COLUMNS} from job j where j.id = ?`, [id])
  return rows[0]
}

/**
 * The job that an execution opened last, if nobody overtook it: running still, or REGISTERED. With its slice's names.
 */
export const jobOfExecution = async (reader: Reader, execution: string): Promise<NamedJob | undefined> => {
  const rows = await reader.rows<NamedJob>(
    `select ${NAMED_JOB_COLUMNS} from job j join distributor d on d.id = j.distributor_id
     where j.execution = ? and j.closed_at is null and j.halted_at is null order by j.id desc limit 1`,
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
