import { MetricUnit } from '@aws-lambda-powertools/metrics'
import type { z } from 'zod'
import { sentenceOf } from '../contract/execution.ts'
import type { EndName } from '../contract/failure-table.ts'
import { fitting } from '../contract/fitting.ts'
import { HALT_ERROR_CHARS_MAX } from '../contract/limits.ts'
import type { HaltFromCatch, HaltFromStatusEvent, LockMessage } from '../contract/messages.ts'
import { remedyOf, remedyText } from '../contract/remedies.ts'
import type { Slice } from '../contract/words.ts'
import { couldOpen, isSameStart, markEnded } from '../store/job/execution.ts'
import { markHalted } from '../store/job/fence.ts'
import { exclusively } from '../store/job/held.ts'
import { writeEvent } from '../store/job/outbox.ts'
import { hasToken, isHeldBy, isOpen, isUnderFence } from '../store/job/predicates.ts'
import { heldMs, type JobRow, jobOfExecution, newestJob, readJob } from '../store/job/row.ts'
import { release } from '../store/lock/release.ts'
import { RAISING, statement, transaction } from '../store/mysql/transaction.ts'
import type { Tx } from '../store/mysql/tx.ts'
import type { TaskContext } from './task.ts'

/** What was done. Nothing to halt is a normal answer: the job is another run's, closed, REGISTERED or halted already. */
export type HaltReport = { readonly halted: boolean; readonly job: number | null; readonly released: boolean }

/**
 * Halts the run's own job, then releases the run's own lock, in this order: the raised fence shuts the siblings of a
 * failed Map out before another run can acquire the lock. If the fence can't be raised the lock stays until its TTL.
 *
 * "Own" is decided by the row: it carries the token of this acquisition (OpenJob committed, even if its reply was
 * lost), or still the job and fence this execution was given, and this execution's name: numbers repeat where the
 * database went back to an earlier moment.
 */
export const haltFromCatch = async (
  context: TaskContext,
  input: z.infer<typeof HaltFromCatch>,
): Promise<HaltReport> => {
  const { database } = context
  const isOwn = (job: JobRow): boolean =>
    hasToken(job, input.lock.token) || (job.execution === input.execution && isUnderFence(job, input.job))
  const newest = await statement(database, (reader) => newestJob(reader, input.slice))
  const { Error: error, Cause: cause } = input.failure
  const halted =
    newest !== undefined &&
    isOwn(newest) &&
    (await haltJob(context, newest.id, isOwn, {
      ...input.slice,
      execution: input.execution,
      error,
      cause: sentenceOf(cause),
    }))
  // A run that goes on without a lock tries too: the reply to its AcquireLock may have been lost after the key was set.
  const released = await releaseOrLog(context, input.slice, input.lock)
  return { halted, job: halted ? (newest?.id ?? null) : null, released }
}

/**
 * Halts the job that an ended execution opened, if nobody took it over since: the row names its execution and that one's
 * life, so an event that comes late or twice leaves a later life alone. The lock's token comes from the row too, so
 * nobody else's run is unlocked. A job that is REGISTERED already was stopped before ReleaseLock: nothing is halted, and
 * the lock is all there is to release.
 *
 * The end is written first and the job is looked for second: an OpenJob in flight either has committed its job by then,
 * or meets the end and opens nothing.
 */
export const haltFromStatusEvent = async (
  context: TaskContext,
  event: z.infer<typeof HaltFromStatusEvent>,
): Promise<HaltReport> => {
  const { database } = context
  const { executionArn: execution, status, startDate: startedMs, redriveCount } = event.detail
  if (!couldOpen(execution)) return { halted: false, job: null, released: false }
  const life = { startedMs, redrives: redriveCount ?? 0 }
  await transaction(database, (tx) => markEnded(tx, execution, life), RAISING)
  const isItsLife = (job: JobRow): boolean =>
    isSameStart(job.execution_started_ms, startedMs) && job.execution_redrives <= (redriveCount ?? Number.MAX_VALUE)
  const found = await statement(database, (reader) => jobOfExecution(reader, execution))
  if (found === undefined || !isItsLife(found)) return { halted: false, job: null, released: false }
  const halted =
    isOpen(found) &&
    (await haltJob(context, found.id, (job) => isHeldBy(job, { ...found, token: found.lock_token }), {
      distributor: found.distributor,
      month: found.month,
      execution,
      error: `Execution${status}` satisfies EndName,
      cause: `The execution ended as ${status} without halting its job itself.`,
    }))
  const released =
    found.lock_token !== null && (await releaseOrLog(context, found, { token: found.lock_token, held: true }))
  return { halted, job: halted ? found.id : null, released }
}

export type Reason = Pick<Slice, 'distributor' | 'month'> & {
  /** The row's own where it is not given. */
  readonly execution?: string
  readonly error: string
  readonly cause: string
}

/**
 * Halts the job and writes its event, if the row is still `isOwn` once it is held exclusively.
 *
 * @param also more to write in the same transaction, from the row as it was before
 */
export const haltJob = async (
  context: TaskContext,
  id: number,
  isOwn: (job: JobRow) => boolean,
  reason: Reason,
  also: (tx: Tx, job: JobRow) => Promise<void> = async () => undefined,
): Promise<boolean> => {
  const { database } = context
  let raisedTo: number | undefined
  let held = 0
  const halted = await exclusively(database, id, async (tx) => {
    const job = await readJob(tx, id)
    // Run again because the reply to COMMIT was lost, it meets its own work.
    if (job !== undefined && job.fence === raisedTo && job.halt_error === fitting(reason.error, HALT_ERROR_CHARS_MAX))
      return true
    if (job === undefined || !isOwn(job)) return false
    const issued = await markHalted(tx, job, reason.error, reason.cause)
    if (issued === 'moved on') return false
    const { distributor, month, error, cause, execution = job.execution } = reason
    const remedy = remedyText(remedyOf(error, reason, true))
    const event = { distributor, month, execution, error, cause, remedy }
    await writeEvent(tx, id, 'JobHalted', { ...event, job: id, state: job.state, fence: issued.fence })
    await also(tx, job)
    raisedTo = issued.fence
    // Asked within the transaction: behind its commit a lost connection would make a halt that is done look failed.
    held = await heldMs(tx, id)
    return true
  })
  if (halted) {
    context.metrics.addMetric('job.halted', MetricUnit.Count, 1)
    context.metrics.addMetric('lock.hold.duration', MetricUnit.Milliseconds, held)
  }
  return halted
}

/**
 * A lock that can't be released now expires by its TTL; the job is halted all the same, and the report says so. Where no
 * lock is held there may be nothing to release, so it is not counted.
 */
export const releaseOrLog = async (
  context: TaskContext,
  slice: Pick<Slice, 'distributor' | 'month'>,
  { token, held }: LockMessage,
): Promise<boolean> => {
  try {
    return await release(await context.lock(), slice, token)
  } catch (error) {
    if (held) context.metrics.addMetric('lock.unlock.failure', MetricUnit.Count, 1)
    context.logger.warn('the lock was not released; it expires by its TTL', { error: error as Error })
    return false
  }
}
