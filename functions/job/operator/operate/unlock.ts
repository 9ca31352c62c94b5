import type { EndName } from '../../../contract/failure-table.ts'
import { Failure } from '../../../contract/failures.ts'
import type { Unlocked } from '../../../contract/reports.ts'
import { type Slice, sliceName } from '../../../contract/words.ts'
import { writeAudit } from '../../../store/audit.ts'
import { findDistributor } from '../../../store/distributor.ts'
import { markUnlocked } from '../../../store/job/execution.ts'
import { hasToken, isRunning, isUnderFence } from '../../../store/job/predicates.ts'
import { type JobRow, newestJob } from '../../../store/job/row.ts'
import { lastsText, tokenDigest } from '../../../store/lock/holder.ts'
import { inspect, type SeenLock } from '../../../store/lock/inspect.ts'
import { release } from '../../../store/lock/release.ts'
import { RAISING, statement, transaction } from '../../../store/mysql/transaction.ts'
import type { Tx } from '../../../store/mysql/tx.ts'
import { haltJob } from '../../halt-job.ts'
import type { TaskContext } from '../../task.ts'
import type { Input } from './input.ts'
import { because } from './stop.ts'

/**
 * Deletes the lock that the operator saw, and first shuts out everybody who may write under it:
 *
 *   newest job --> lock is the one seen --> its holder may open no job --> raise the job's fence --> delete the lock
 *
 * The other way round, the old run would write on after its lock is gone, or acquire a new one and go on. The holder's
 * OpenJob may be in flight: it has committed its job before the mark and the job is halted, or it meets the mark.
 *
 * The job is read before the lock is looked at. A run that takes over in between has a lock of its own, so it met this
 * one's end; its job carries neither the fence that was read nor this token, and is left alone.
 * See decisions.md, "A lock is deleted after the fence is raised, and only the one that was seen".
 *
 * @throws Failure UnknownDistributor; NotLocked; LockChanged; LockUnreachable, with the job perhaps halted: do it again
 */
export const unlock = async (context: TaskContext, input: Input<'unlock'>): Promise<Unlocked> => {
  const { database } = context
  const { id: distributorId } = await statement(database, (reader) => findDistributor(reader, input.distributor))
  const slice: Slice = { distributorId, distributor: input.distributor, month: input.month }
  const before = await statement(database, (reader) => newestJob(reader, slice))
  const lock = await seenLock(context, input)
  await transaction(database, (tx) => markUnlocked(tx, lock.holder), RAISING)
  const isOwn = (job: JobRow): boolean => isRunning(job) && (hasToken(job, lock.token) || isUnderFence(job, before))
  const job = await halt(context, input, slice, lock, isOwn)
  if (job === null) await transaction(database, (tx) => writeLine(tx, input, lock))
  return { job, holder: lock.holder, released: await release(await context.lock(), slice, lock.token) }
}

const seenLock = async (
  context: TaskContext,
  { tokenDigest: digest, ...slice }: Input<'unlock'>,
): Promise<SeenLock> => {
  const lock = await inspect(await context.lock(), slice)
  if (lock === null) throw new Failure('NotLocked', `${sliceName(slice)} is not locked; there is nothing to unlock.`)
  if (tokenDigest(lock.token) === digest) return lock
  throw new Failure(
    'LockChanged',
    `The lock of ${sliceName(slice)} is not the one you saw: the run ${lock.holder} holds it now (${tokenDigest(lock.token)}), and it ${lastsText(lock.remainingMs)}.`,
    { data: { holder: lock.holder, remainingMs: lock.remainingMs } },
  )
}

/** Halts the slice's newest job if it is the lock's. @returns its number */
const halt = async (
  context: TaskContext,
  input: Input<'unlock'>,
  slice: Slice,
  lock: SeenLock,
  isOwn: (job: JobRow) => boolean,
): Promise<number | null> => {
  const { caller, why } = input
  for (;;) {
    const newest = await statement(context.database, (reader) => newestJob(reader, slice))
    if (newest === undefined || !isOwn(newest)) return null
    const cause = `${sliceName(slice)} was unlocked by ${because(caller, why)}`
    const reason = { ...slice, error: 'Unlocked' satisfies EndName, cause }
    const halted = await haltJob(context, newest.id, isOwn, reason, (tx, job) => writeLine(tx, input, lock, job))
    // Not: the job moved on, e.g. the holder opened a new one or registered this one. Look again.
    if (halted) return newest.id
  }
}

const writeLine = async (tx: Tx, input: Input<'unlock'>, lock: SeenLock, job?: JobRow): Promise<void> => {
  const { caller, why, distributor, month, tokenDigest: digest } = input
  await writeAudit(tx, {
    ...{ caller, why, action: 'unlock', distributor, month, job: job?.id ?? null, execution: lock.holder },
    detail: { tokenDigest: digest, remainingMs: lock.remainingMs, state: job?.state ?? null },
  })
}
