import { Failure } from '../contract/errors.ts'
import type { Staged } from '../contract/messages.ts'
import { type JobState, monthDate, type Slice } from '../contract/words.ts'
import type { Database } from './database.ts'

/** The columns of a job row that decide what may happen next. */
export type JobRow = {
  readonly id: number
  readonly state: JobState
  readonly fence: number
  readonly lock_token: string | null
  readonly execution: string
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

export const JOB_COLUMNS = `id, state, fence, lock_token, execution, source_digest, source_rows, source_share_sum, delete_plans,
  halted_at, halt_error, closed_at, requested_by, is_undo`

export const isOpen = (job: JobRow): boolean => job.state !== 'REGISTERED' && job.closed_at === null

/** The newest job of a slice: the one with the highest fence. */
export const newestJob = async (database: Database, slice: Slice): Promise<JobRow | undefined> => {
  const rows = await database.rows<JobRow>(
    `select ${JOB_COLUMNS} from job where distributor_id = ? and settlement_month = ? order by fence desc limit 1`,
    [slice.distributorId, monthDate(slice.month)],
  )
  return rows[0]
}

/** True where some job of the distributor had this staged source: it was validated under the distributor's own rules. */
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

/** The job that an execution opened last, if nobody overtook it: running still, or REGISTERED. With its slice's names. */
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

/** The guard of every write: this job, under this fence, in this state. */
export type Guard = { readonly id: number; readonly fence: number; readonly state: JobState }

/**
 * First statement of a chunk's transaction. It holds the job row shared until commit, so a fence is raised either
 * before this read (and we see it) or after our commit (and it waits for us); there is no moment in between.
 *
 * @throws Failure StaleFence where the job is not ours to write any more
 */
export const guardShared = async (database: Database, guard: Guard): Promise<void> => {
  const rows = await database.rows(
    'select id from job where id = ? and fence = ? and state = ? and closed_at is null for share',
    [guard.id, guard.fence, guard.state],
  )
  if (rows.length === 0) throw await staleFence(database, guard)
}

/**
 * First statement of a transition's transaction, which must hold the row exclusively already (see `exclusively`); without
 * it a mere look, which has to be repeated with the row held.
 * `also` names a state that is fine too: the one that a repetition of the transition finds.
 */
export const guardExclusive = async (database: Database, guard: Guard, also?: JobState): Promise<JobRow> => {
  const job = await readJob(database, guard.id)
  const fits = job?.fence === guard.fence && job.closed_at === null && [guard.state, also].includes(job.state)
  if (!fits || job === undefined) throw await staleFence(database, guard)
  return job
}

const staleFence = async (database: Database, guard: Guard): Promise<Failure> => {
  const job = await readJob(database, guard.id)
  const now = job === undefined ? 'gone' : `${job.state} under fence ${job.fence}`
  const goesOn = job !== undefined && job.closed_at === null && job.halted_at === null
  const what = job?.closed_at ? 'The job was closed' : job?.halted_at ? 'The job was halted' : 'Another run took over'
  return new Failure(
    'StaleFence',
    `${what}: this run holds fence ${guard.fence} and expects ${guard.state}, the job is ${now}. Nothing was written; look at ${goesOn ? `the run ${job.execution}` : 'the newest job of the slice'}.`,
    { job: guard.id, fence: guard.fence, state: guard.state },
  )
}

/** Who opens a job, and for which source. */
export type Opening = {
  readonly token: string
  readonly execution: string
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
    `insert into job (distributor_id, settlement_month, state, fence, lock_token, execution, requested_by,
                      source_digest, source_rows, source_share_sum, is_undo)
     values (?, ?, 'DELETING', ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      slice.distributorId,
      monthDate(slice.month),
      fence,
      opening.token,
      opening.execution,
      opening.requestedBy,
      opening.staged.digest,
      opening.staged.rows,
      opening.staged.shareSum,
      opening.undo ? 1 : 0,
    ],
  )
  return { id: result.insertId }
}

/** Issues the next fence of an open job to a new holder. The fence in the WHERE is the compare of the compare-and-set. */
export const takeOverJob = async (database: Database, job: JobRow, opening: Opening): Promise<boolean> => {
  const result = await database.change(
    `update job set fence = fence + 1, lock_token = ?, execution = ?, requested_by = ?, opened_at = current_timestamp(6),
            halted_at = null, halt_error = null, halt_cause = null
     where id = ? and fence = ? and open_slice = 1`,
    [opening.token, opening.execution, opening.requestedBy, job.id, job.fence],
  )
  return result.affectedRows === 1
}

/** Closes an open job for good: its fence is raised, so whoever still runs it writes nothing more. */
export const closeJob = async (database: Database, job: JobRow): Promise<boolean> => {
  const result = await database.change(
    `update job set fence = fence + 1, lock_token = null, closed_at = current_timestamp(6)
     where id = ? and fence = ? and open_slice = 1`,
    [job.id, job.fence],
  )
  return result.affectedRows === 1
}

/** Raises the fence and records the halt, where the row still is under `fence`. */
export const haltJob = async (
  database: Database,
  job: Pick<JobRow, 'id' | 'fence'>,
  error: string,
  cause: string,
): Promise<boolean> => {
  const result = await database.change(
    `update job set fence = fence + 1, lock_token = null, halted_at = current_timestamp(6), halt_error = ?, halt_cause = ?
     where id = ? and fence = ? and open_slice = 1`,
    [error.slice(0, 100), cause.slice(0, 2_000), job.id, job.fence],
  )
  return result.affectedRows === 1
}

/** When each state was reached; DELETING is `created_at`. */
const REACHED_AT = { DELETED: 'deleted_at', REGISTERING: 'registering_at', REGISTERED: 'registered_at' } as const

/** Moves the state one step. The old state and the fence in the WHERE close the race with a take-over. */
export const markState = async (database: Database, guard: Guard, next: keyof typeof REACHED_AT): Promise<boolean> => {
  const result = await database.change(
    `update job set state = ?, ${REACHED_AT[next]} = current_timestamp(6) where id = ? and fence = ? and state = ?`,
    [next, guard.id, guard.fence, guard.state],
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

/** Counts one more delete plan. */
export const countDeletePlan = async (database: Database, guard: Guard): Promise<void> => {
  await database.change('update job set delete_plans = delete_plans + 1 where id = ? and fence = ?', [
    guard.id,
    guard.fence,
  ])
}
