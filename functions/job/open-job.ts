import { Failure } from '../contract/failures.ts'
import type { JobMessage, OpenJobInput } from '../contract/messages.ts'
import { sliceName } from '../contract/words.ts'
import { ensureActiveSet, hideSet } from '../store/active-set.ts'
import { type Life, mayOpen } from '../store/job/execution.ts'
import { closeJob, type Fence, insertJob, type JobOpener, takeOverJob } from '../store/job/fence.ts'
import { exclusively } from '../store/job/held.ts'
import { hasToken, isOpen, isUnderFence } from '../store/job/predicates.ts'
import { type JobRow, newestJob } from '../store/job/row.ts'
import { undoTarget } from '../store/job/undo-target.ts'
import { isDuplicateKey, RAISING, statement, transaction } from '../store/mysql/transaction.ts'
import type { Tx } from '../store/mysql/tx.ts'
import { ensureBorders } from '../store/share-ratio.ts'
import { requireHead, requireUndo } from './expectation.ts'
import { placeSet, seePlace } from './place-set.ts'
import type { TaskContext } from './task.ts'

/**
 * Opens the slice's job: a compare-and-set on the head that AcquireLock read.
 *
 *   AcquireLock ... head (7, fence 3)      another run opens: head (7, fence 4)      late OpenJob with (7, 3):
 * Superseded
 *
 * - the token that opened the newest job already: the same answer again, nothing changes;
 * - no open job: a new one in DELETING;
 * - an open job of the same source: taken over, halt cleared, its state kept;
 * - an open job of another source: JobOpenError, or with `supersede` closed and a new one;
 * - readers see this very source already, registered by the newest job: nothing to do, unless `force`.
 *
 * A new job is given its slot here, once and for all. Where it will write what readers see (mode in-place), the set is hidden
 * in this transaction.
 *
 * All of it only where the head is also the one that the request expects, if it expects any, and an undo only where it
 * still goes back to the set that was staged for it.
 * An execution that ended, or whose slice was unlocked, opens nothing: see store/execution.ts.
 *
 * Two unique keys are behind it: one open job per slice, and (slice, fence). Error 1062 is never success. Where no
 * open job's row could be taken, `create` looks again behind its insert.
 *
 * @throws Failure ExecutionEnded, Superseded, PlanMoved, JobOpenError, ReadersInTheWay, DatabaseUnreachable
 */
export const openJob = async (context: TaskContext, input: OpenJobInput): Promise<JobMessage> => {
  const { database } = context
  const newest = await statement(database, (reader) => newestJob(reader, input.slice))
  const life = lifeOf(input)
  const decide = async (tx: Tx) => {
    if (!(await mayOpen(tx, input.execution, life))) throw ended(input)
    return await decideOn(tx, input, life, await newestJob(tx, input.slice))
  }
  const decideWithoutRow = () => transaction(database, decide, RAISING)
  try {
    // The newest job's row is taken exclusively, open or not: a raise waits for chunks in flight and shuts out later
    // ones.
    if (newest !== undefined) return await exclusively(database, newest.id, decide)
    return await decideWithoutRow()
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
  }
  // Somebody committed a job in between: perhaps a first attempt with our own token. Start again from the head.
  try {
    return await decideWithoutRow()
  } catch (error) {
    if (isDuplicateKey(error)) throw superseded(input, 'another run opened a job at the same moment')
    throw error
  }
}

const lifeOf = ({ life }: OpenJobInput): Life => ({ startedMs: Date.parse(life.startedAt), redrives: life.redrives })

const decideOn = async (tx: Tx, input: OpenJobInput, life: Life, newest: JobRow | undefined): Promise<JobMessage> => {
  const { request, own, staged, lock, execution } = input
  if (newest !== undefined && hasToken(newest, lock.token)) return opened(newest, newest, 'repeated')
  await requireCurrent(tx, input, newest)
  const opener: JobOpener = {
    token: lock.token,
    execution,
    life,
    requestedBy: request.requestedBy,
    staged,
    undo: 'undo' in request.source,
  }
  if (newest === undefined) return await create(tx, input, undefined, opener, 'opened')
  if (isOpen(newest)) return await overOpenJob(tx, input, newest, opener)
  // A run that comes back after LockLost and finds its own job REGISTERED is done, forced or not.
  const isShown = newest.withdrawn_at === null && newest.source_digest === staged.digest
  if (isShown && (!request.force || own !== null)) return opened(newest, newest, 'already registered')
  return await create(tx, input, newest, opener, 'opened')
}

/**
 * The newest job is the one that this run goes by: that of its lock, its own where it has one, or the one it expects.
 *
 * @throws Failure Superseded, PlanMoved
 */
const requireCurrent = async (tx: Tx, input: OpenJobInput, newest: JobRow | undefined): Promise<void> => {
  const { request, head, own, slice, staged, execution } = input
  if (newest?.id !== head?.job || newest?.fence !== head?.fence)
    throw superseded(input, 'another run opened the job since the lock was acquired')
  if (own === null) {
    requireHead(slice, request.expect, execution, newest)
    if ('undo' in request.source) requireUndo(slice, staged.digest, await undoTarget(tx, slice))
  } else if (newest === undefined || !isUnderFence(newest, own) || newest.execution !== execution)
    throw superseded(input, `job ${own.id} does not carry this run and fence ${own.fence} any more`)
}

/** Takes an open job over where it has the same source, or closes it where the request says so. */
const overOpenJob = async (tx: Tx, input: OpenJobInput, job: JobRow, opener: JobOpener): Promise<JobMessage> => {
  const { request, own, slice, staged } = input
  // With supersede and force together even the same source starts over: the way out when strangers wrote rows.
  const startsOver = request.supersede && request.force && own === null
  if (job.source_digest === staged.digest && !startsOver) {
    const issued = await takeOverJob(tx, job, opener)
    if (issued === 'moved on') throw superseded(input, 'the job moved on')
    return opened(job, issued, 'taken over')
  }
  if (!request.supersede) throw jobOpen(job, slice)
  const closed = await closeJob(tx, job)
  if (closed === 'moved on') throw superseded(input, 'the job moved on')
  return await create(tx, input, { ...job, ...closed }, opener, 'superseding')
}

/**
 * Inserts the job, then looks again. The unique keys alone leave one order of events open: this run reads "no open job"
 * and stalls; another run opens one, raises its fence (so that its first number is free again) and registers it; this
 * insert then breaks neither key, and deletes what was just registered under an older fence. From the insert on our key
 * keeps others out, so whatever came before is committed and seen here.
 * See decisions.md, "OpenJob looks again behind its insert".
 *
 * @param last the slice's newest job so far, under the fence that it has now
 */
const create = async (tx: Tx, input: OpenJobInput, last: JobRow | undefined, opener: JobOpener, outcome: string) => {
  const { slice, request } = input
  const seen = await seePlace(tx, slice, last, request.force ? undefined : opener.staged.digest)
  const place = placeSet(seen)
  await ensureActiveSet(tx, slice)
  await ensureBorders(tx, slice)
  const { id, fence } = await insertJob(tx, slice, last, opener, place)
  const newest = await newestJob(tx, slice)
  if (newest?.id !== id) throw superseded(input, 'another run opened a newer job since the lock was acquired')
  if (place.slot === seen.active?.slot && !place.reusesSet) await hideSet(tx, slice)
  return { id, fence, state: 'DELETING', outcome, reusesSet: place.reusesSet } as const
}

const opened = (job: JobRow, { fence }: Fence, outcome: string): JobMessage => ({
  id: job.id,
  fence,
  state: job.state,
  outcome,
  reusesSet: job.reuses_set === 1 && job.state === 'DELETING',
})

const superseded = (input: OpenJobInput, why: string): Failure =>
  new Failure('Superseded', `This run of ${sliceName(input.slice)} was overtaken: ${why}. It changed nothing.`, {
    job: input.own?.id,
    fence: input.own?.fence,
  })

const ended = ({ execution, slice }: OpenJobInput): Failure =>
  new Failure(
    'ExecutionEnded',
    `The execution ${execution} of ${sliceName(slice)} was ended, or its slice was unlocked, before it opened the job. It changed nothing.`,
  )

const jobOpen = (job: JobRow, slice: OpenJobInput['slice']): Failure =>
  new Failure(
    'JobOpenError',
    `${sliceName(slice)} has an open job of another file (staged source ${job.source_digest}, ${
      job.halted_at === null ? `opened by ${job.execution}` : `halted at ${job.halted_at} by ${job.halt_error}`
    })`,
    {
      ...{ job: job.id, fence: job.fence, state: job.state },
      data: { source: job.source_digest, openedBy: job.execution, haltedBy: job.halt_error },
    },
  )
