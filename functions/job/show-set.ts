import { MetricUnit } from '@aws-lambda-powertools/metrics'
import { Failure, isFailure } from '../contract/failures.ts'
import { SWITCH_PATIENCE_S, SWITCH_RESERVE_MS } from '../contract/limits.ts'
import type { Guarded, JobMessage } from '../contract/messages.ts'
import { sliceName } from '../contract/words.ts'
import { showSet } from '../store/active-set.ts'
import type { Comparison } from '../store/compare-set.ts'
import { acquisitionOf, type ExclusiveTx, guardExclusive } from '../store/job/guard.ts'
import { exclusively } from '../store/job/held.ts'
import { markState, recordWait } from '../store/job/mark-state.ts'
import { writeEvent } from '../store/job/outbox.ts'
import { heldMs, type JobRow } from '../store/job/row.ts'
import type { TaskContext } from './task.ts'
import { verifyLock } from './verify-lock.ts'
import { heldEvent, requireWholeFile } from './whole-file.ts'

/** A state from which a job's set may be shown, once it is known to be whole. */
type Showable = 'REGISTERING' | 'DELETING'

/**
 * Runs `attempt`, which ends with the switch, until no reader is in its way:
 *
 *   hold the job row --> look again --> switch: a reader holds active_set --> roll back --> write who it is, extend the lock
 *   --> the readers behind us pass --> again
 *
 * See decisions.md, "The switch waits for readers, and ends none".
 *
 * @throws Failure ReadersInTheWay past SWITCH_PATIENCE_S, counted over all attempts since the job was opened; OutOfTime
 */
export const untilShown = async (
  context: TaskContext,
  input: Guarded,
  from: Showable,
  attempt: () => Promise<JobMessage>,
): Promise<JobMessage> => {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!isFailure(error, 'ReadersInTheWay')) throw error
      const by = acquisitionOf(input)
      const waitedS = await exclusively(context.database, by.id, async (held) =>
        recordWait(await guardExclusive<Showable>(held, by, from), error.message),
      )
      context.logger.warn('the switch waits for a reader', { error, waitedS })
      if (waitedS >= SWITCH_PATIENCE_S) throw error
      if (context.remainingMs() < SWITCH_RESERVE_MS)
        throw new Failure('OutOfTime', `The switch still waits. ${error.message} It is tried again at once`, input.job)
      await verifyLock(context, input)
    }
  }
}

/**
 * REGISTERED, the switch, and the event, in the transaction that is open. The set was compared and is whole.
 *
 * @throws Failure SliceMismatch, ReadersInTheWay
 */
export const finishJob = async (
  context: TaskContext,
  input: Guarded,
  guarded: ExclusiveTx<'REGISTERING'> | ExclusiveTx<'DELETING'>,
  { rows, shareSum }: Comparison,
): Promise<void> => {
  const { id, fence } = guarded.by
  const { source_digest: source } = guarded.job
  const details = { job: id, fence, state: guarded.state }
  const held = await requireWholeFile(guarded, input.slice, source, { rows, shareSum }, details)
  await showSet(guarded)
  await markState(guarded, 'REGISTERED')
  context.metrics.addMetric('lock.hold.duration', MetricUnit.Milliseconds, await heldMs(guarded, id))
  const { distributor, month } = input.slice
  await writeEvent(guarded, id, 'JobRegistered', {
    ...{ distributor, month, job: id, fence, source, rows, shareSum },
    ...heldEvent(held),
  })
}

/** The slot does not hold what the file has. */
export const mismatch = (
  { slice, job }: Guarded,
  state: Showable,
  { difference, rows, shareSum }: Comparison,
  { source_rows: fileRows, source_share_sum: fileShareSum }: JobRow,
): Failure =>
  new Failure('SliceMismatch', `${sliceName(slice)} ${difference}: another program wrote to the slice.`, {
    ...{ job: job.id, fence: job.fence, state },
    data: { rows, shareSum, fileRows: Number(fileRows), fileShareSum },
  })
