import { Failure } from '../../contract/failures.ts'
import type { Guarded } from '../../contract/messages.ts'
import type { JobState, SlotKey } from '../../contract/words.ts'
import { type Reader, Tx } from '../mysql/tx.ts'
import type { HeldJob } from './held.ts'
import { isHalted, isHeldBy } from './predicates.ts'
import { type JobRow, readJob, SLOT_KEY_COLUMNS } from './row.ts'

/**
 * What every write is guarded by, besides the state: this job, under this fence, opened by this acquisition of the lock.
 *
 * The token is compared besides the fence because numbers repeat where the database goes back in time: after a failover
 * that lost a commit, or a restore, two runs can be given one job number and one fence. A token is never minted twice.
 * See decisions.md, "The acquisition is compared, not only job and fence".
 */
export type Acquisition = {
  readonly id: number
  readonly fence: number
  readonly token: string
}

/** The acquisition of a task's input. */
export const acquisitionOf = ({ job, lock }: Pick<Guarded, 'job' | 'lock'>): Acquisition => ({
  id: job.id,
  fence: job.fence,
  token: lock.token,
})

class Shared<State extends JobState> extends Tx {
  readonly by: Acquisition
  readonly state: State
  /** Where the job writes, as its row says: no task's input can name another place. */
  readonly slotKey: SlotKey

  constructor(tx: Tx, by: Acquisition, state: State, slotKey: SlotKey) {
    super(tx)
    this.by = by
    this.state = state
    this.slotKey = slotKey
  }
}

class Exclusive<State extends JobState> extends Shared<State> {
  readonly job: JobRow

  constructor(tx: Tx, by: Acquisition, state: State, job: JobRow) {
    super(tx, by, state, job)
    this.job = job
  }
}

/**
 * A transaction in which the guard found the job ours and in this state, and holds its row until the end. Rows of a month
 * and of the ledger are written through it only, and it is made here only.
 * See decisions.md, "A guarded write is a type".
 */
export type GuardedTx<State extends JobState> = Shared<State>

/** The same with the row held exclusively: the state may be moved and plans be written. `job` is the row as it was found. */
export type ExclusiveTx<State extends JobState> = Exclusive<State>

type ExclusiveInOne<State extends JobState> = State extends JobState ? ExclusiveTx<State> : never

/**
 * First statement of a chunk's transaction. It holds the job row shared until commit, so a fence is raised either
 * before this read (and we see it) or after our commit (and it waits for us); there is no moment in between.
 * See decisions.md, "The lock is for economy, the fence for safety".
 *
 * @throws Failure StaleFence where the job is not ours to write any more
 */
export const guardShared = async <State extends JobState>(
  tx: Tx,
  by: Acquisition,
  state: State,
): Promise<GuardedTx<State>> => {
  const [slotKey] = await tx.rows<SlotKey>(
    `select ${SLOT_KEY_COLUMNS} from job j
     where j.id = ? and j.fence = ? and j.lock_token = ? and j.state = ? and j.closed_at is null for share`,
    [by.id, by.fence, by.token, state],
  )
  if (slotKey === undefined) throw await staleFence(tx, by, state)
  return new Shared(tx, by, state, slotKey)
}

/**
 * First statement of a transition's transaction. `states` begins with the one that the transition starts from; another
 * is the one that a repetition of it finds.
 *
 * @throws Failure StaleFence
 */
export const guardExclusive = async <State extends JobState>(
  held: HeldJob,
  by: Acquisition,
  ...states: readonly [State, ...State[]]
): Promise<ExclusiveInOne<State>> => {
  if (held.jobId !== by.id) throw new Error(`The row of job ${held.jobId} is held and not that of job ${by.id}`)
  const job = await requireOurs(held, by, ...states)
  return new Exclusive(held, by, job.state as State, job) as ExclusiveInOne<State>
}

/**
 * The same as a mere look: what it sees may be over at once, so it has to be repeated with the row held.
 *
 * @throws Failure StaleFence
 */
export const requireOurs = async (
  reader: Reader,
  by: Acquisition,
  ...states: readonly [JobState, ...JobState[]]
): Promise<JobRow> => {
  const job = await readJob(reader, by.id)
  if (job === undefined || job.closed_at !== null || !isHeldBy(job, by) || !states.includes(job.state))
    throw await staleFence(reader, by, states[0])
  return job
}

/** The failure that says who has the job now. @param expected the state that was to be found */
export const staleFence = async (reader: Reader, by: Acquisition, expected: JobState): Promise<Failure> => {
  const job = await readJob(reader, by.id)
  const now = job === undefined ? 'gone' : `${job.state} under fence ${job.fence}`
  const goesOn = job !== undefined && job.closed_at === null && !isHalted(job)
  return new Failure(
    'StaleFence',
    `${lostBy(job, by)}: this run holds fence ${by.fence} and expects ${expected}, the job is ${now}. Nothing was written; look at ${goesOn ? `the run ${job.execution}` : 'the newest job of the slice'}.`,
    { job: by.id, fence: by.fence, state: expected },
  )
}

const lostBy = (job: JobRow | undefined, by: Acquisition): string => {
  if (job?.closed_at) return 'The job was closed'
  if (job !== undefined && isHalted(job)) return 'The job was halted'
  if (job === undefined || job.fence < by.fence) return 'The database went back to an earlier moment'
  if (job.fence === by.fence && job.lock_token !== by.token)
    return 'The database went back to an earlier moment, and another run was given the same job and fence'
  return 'Another run took over'
}
