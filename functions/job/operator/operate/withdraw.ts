import { randomUUID } from 'node:crypto'
import { Failure, isFailure } from '../../../contract/failures.ts'
import { SWITCH_RESERVE_MS } from '../../../contract/limits.ts'
import type { Withdrawn } from '../../../contract/reports.ts'
import { type Slice, sliceName } from '../../../contract/words.ts'
import { activeSet, hideSet } from '../../../store/active-set.ts'
import { writeAudit } from '../../../store/audit.ts'
import { markWithdrawn } from '../../../store/job/fence.ts'
import { exclusively } from '../../../store/job/held.ts'
import { writeEvent } from '../../../store/job/outbox.ts'
import { isOpen } from '../../../store/job/predicates.ts'
import { type JobRow, newestJob } from '../../../store/job/row.ts'
import { tryAcquire } from '../../../store/lock/acquire.ts'
import { heldText } from '../../../store/lock/holder.ts'
import type { Tx } from '../../../store/mysql/tx.ts'
import { releaseOrLog } from '../../halt-job.ts'
import type { TaskContext } from '../../task.ts'
import { knownSliceOf } from '../inspect/slice.ts'
import type { Input } from './input.ts'

/**
 * Takes a registered set from the readers, and deletes no row: the way back for a set of the wrong month or distributor.
 * Under the slice's lock, like a run:
 *
 *   lock --> hold the job's row: newest, REGISTERED, shown --> raise its fence --> hide the set --> event, audit line
 *
 * A run that was planned on the job meets the raised fence; an undo shows the set again.
 * See decisions.md, "A set is withdrawn by a switch to none".
 *
 * @throws Failure UnknownJob, LockHeld, JobOpenError, NotShown; ReadersInTheWay and what else is transient: do it again
 */
export const withdraw = async (context: TaskContext, input: Input<'withdraw'>): Promise<Withdrawn> => {
  const { database } = context
  const slice = await knownSliceOf(context, input.job)
  const token = `withdraw-${input.job}/${randomUUID()}`
  await lockSlice(context, slice, token)
  try {
    return await pastReaders(context, () => exclusively(database, input.job, (tx) => withdrawHeld(tx, slice, input)))
  } finally {
    await releaseOrLog(context, slice, { token, held: true })
  }
}

const lockSlice = async (context: TaskContext, slice: Slice, token: string): Promise<void> => {
  const held = await tryAcquire(await context.lock(), slice, token)
  if (held === null) return
  throw new Failure('LockHeld', `${heldText(slice, held)} Nothing was withdrawn.`, { data: held })
}

/** Waits for readers as long as the time of the call lasts; nobody retries it but the operator. */
const pastReaders = async <T>({ remainingMs }: TaskContext, attempt: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isFailure(error, 'ReadersInTheWay') || remainingMs() < SWITCH_RESERVE_MS) throw error
    }
  }
}

const withdrawHeld = async (tx: Tx, slice: Slice, input: Input<'withdraw'>): Promise<Withdrawn> => {
  const { caller, why, job: id } = input
  const { distributor, month } = slice
  const job = await requireShown(tx, slice, id)
  // A second run, because the reply to the first was lost.
  if (job.withdrawn_at !== null) return { job: id, distributor, month, withdrawn: false }
  const issued = await markWithdrawn(tx, job)
  if (issued === 'moved on') throw notShown(slice, id, 'it changed at this very moment')
  await hideSet(tx, slice)
  const { source_digest: source, source_rows: rows, source_share_sum: shareSum } = job
  await writeEvent(tx, id, 'JobWithdrawn', {
    ...{ distributor, month, job: id, fence: issued.fence, source, rows, shareSum },
    ...{ requestedBy: caller, why },
  })
  await writeAudit(tx, {
    ...{ caller, why, action: 'withdraw', distributor, month, job: id, execution: job.execution },
    detail: { source, rows, shareSum, fence: issued.fence },
  })
  return { job: id, distributor, month, withdrawn: true }
}

/**
 * The job, where it is the slice's newest and readers see its set, or did until it was withdrawn.
 *
 * @throws Failure NotShown, JobOpenError
 */
const requireShown = async (tx: Tx, slice: Slice, id: number): Promise<JobRow> => {
  const newest = await newestJob(tx, slice)
  if (newest === undefined || newest.id !== id) {
    if (newest !== undefined && isOpen(newest)) throw stillOpen(slice, newest)
    throw notShown(slice, id, `job ${newest?.id} is the newest`)
  }
  if (isOpen(newest)) throw stillOpen(slice, newest)
  if (newest.withdrawn_at === null && (await activeSet(tx, slice))?.job !== id)
    throw notShown(slice, id, 'they see another set, or none')
  return newest
}

const stillOpen = (slice: Slice, job: JobRow): Failure =>
  new Failure(
    'JobOpenError',
    `${sliceName(slice)} has an open job, ${job.id}, which will show its own set; a set is withdrawn once no job is open. Nothing was withdrawn.`,
    {
      ...{ job: job.id, fence: job.fence, state: job.state },
      data: { source: job.source_digest, openedBy: job.execution, haltedBy: job.halt_error },
    },
  )

const notShown = (slice: Slice, id: number, why: string): Failure =>
  new Failure('NotShown', `Job ${id} of ${sliceName(slice)} is not what readers see: ${why}. Nothing was withdrawn.`)
