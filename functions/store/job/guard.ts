import { Failure } from '../../contract/failures.ts'
import type { Guarded } from '../../contract/messages.ts'
import type { JobState } from '../../contract/words.ts'
import type { Database } from '../mysql/database.ts'
import { type JobRow, readJob } from './row.ts'

/**
 * The guard of every write: this job, under this fence, opened by this acquisition of the lock, in this state.
 *
 * The token is compared besides the fence because numbers repeat where the database goes back in time: after a failover
 * that lost a commit, or a restore, two runs can be given one job number and one fence. A token is never minted twice.
 */
export type Guard = {
  readonly id: number
  readonly fence: number
  readonly token: string
  readonly state: JobState
}

/** The guard of a task's input. */
export const guardOf = ({ job, lock }: Pick<Guarded, 'job' | 'lock'>, state: JobState): Guard => ({
  id: job.id,
  fence: job.fence,
  token: lock.token,
  state,
})

/**
 * First statement of a chunk's transaction. It holds the job row shared until commit, so a fence is raised either
 * before this read (and we see it) or after our commit (and it waits for us); there is no moment in between.
 *
 * @throws Failure StaleFence where the job is not ours to write any more
 */
export const guardShared = async (database: Database, guard: Guard): Promise<void> => {
  const rows = await database.rows(
    `select id from job where id = ? and fence = ? and lock_token = ? and state = ? and closed_at is null for share`,
    [guard.id, guard.fence, guard.token, guard.state],
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
  const isOurs = job?.fence === guard.fence && job.lock_token === guard.token && job.closed_at === null
  if (!isOurs || ![guard.state, also].includes(job.state)) throw await staleFence(database, guard)
  return job
}

const staleFence = async (database: Database, guard: Guard): Promise<Failure> => {
  const job = await readJob(database, guard.id)
  const now = job === undefined ? 'gone' : `${job.state} under fence ${job.fence}`
  const goesOn = job !== undefined && job.closed_at === null && job.halted_at === null
  return new Failure(
    'StaleFence',
    `${lostBy(job, guard)}: this run holds fence ${guard.fence} and expects ${guard.state}, the job is ${now}. Nothing was written; look at ${goesOn ? `the run ${job.execution}` : 'the newest job of the slice'}.`,
    { job: guard.id, fence: guard.fence, state: guard.state },
  )
}

const lostBy = (job: JobRow | undefined, guard: Guard): string => {
  if (job?.closed_at) return 'The job was closed'
  if (job?.halted_at) return 'The job was halted'
  if (job === undefined || job.fence < guard.fence) return 'The database went back to an earlier moment'
  if (job.fence === guard.fence && job.lock_token !== guard.token)
    return 'The database went back to an earlier moment, and another run was given the same job and fence'
  return 'Another run took over'
}

/** When each state was reached; DELETING is `created_at`. */
const REACHED_AT = { DELETED: 'deleted_at', REGISTERING: 'registering_at', REGISTERED: 'registered_at' } as const

/**
 * Moves the state one step. The old state, the fence and the token in the WHERE close the race with a take-over.
 *
 * @throws Failure StaleFence where no row was moved
 */
export const markState = async (database: Database, guard: Guard, next: keyof typeof REACHED_AT): Promise<void> => {
  const { affectedRows } = await database.change(
    `update job set state = ?, ${REACHED_AT[next]} = current_timestamp(6)
     where id = ? and fence = ? and lock_token = ? and state = ?`,
    [next, guard.id, guard.fence, guard.token, guard.state],
  )
  if (affectedRows !== 1) throw await staleFence(database, guard)
}

/**
 * Counts one more delete plan of this opening.
 *
 * @throws Failure StaleFence where no row was counted
 */
export const countDeletePlan = async (database: Database, guard: Guard): Promise<void> => {
  const { affectedRows } = await database.change(
    'update job set delete_plans = delete_plans + 1 where id = ? and fence = ? and lock_token = ? and state = ?',
    [guard.id, guard.fence, guard.token, guard.state],
  )
  if (affectedRows !== 1) throw await staleFence(database, guard)
}
