import { MetricUnit } from '@aws-lambda-powertools/metrics'
import { Failure } from '../contract/failures.ts'
import { AcquireLockInput, type JobMessage } from '../contract/messages.ts'
import { type Slice, sliceName } from '../contract/words.ts'
import { readHead } from '../job/read-head.ts'
import { type TaskContext, task } from '../job/task.ts'
import { tryAcquire } from '../store/lock/acquire.ts'
import { heldText } from '../store/lock/holder.ts'

/**
 * Takes the slice's lock and reads the slice's head, in this order: OpenJob then sets only what was read under the lock.
 *
 * A second run with the same token finds the lock its own. While another run holds it, one failure is thrown:
 *
 * - LockTaken where this run has a job already and lost the lock of it: the engine waits for the key up to one TTL, for its
 *   holder may have opened nothing (a key that came back with an old replica, a late acquire), and OpenJob decides;
 * - LockHeld or LockAwaited by the input's policy: one ends the execution, the other is retried with full jitter.
 *
 * @throws Failure Superseded where the own job was taken over meanwhile; there is nothing to wait for then
 */
export const handler = task('AcquireLock', AcquireLockInput, async ({ slice, lock, onHeld, own }, context) => {
  const startedAt = performance.now()
  const held = await tryAcquire(await context.lock(), slice, lock.token).catch((error: unknown) => {
    context.metrics.addMetric('lock.acquire.timeout', MetricUnit.Count, 1)
    throw error
  })
  context.metrics.addMetric('lock.acquire.latency', MetricUnit.Milliseconds, performance.now() - startedAt)
  if (held === null) {
    context.metrics.addMetric('lock.acquire.success', MetricUnit.Count, 1)
    return { head: await readHead(context, slice) }
  }
  if (own !== null) await requireOwn(context, slice, own)
  const name = own !== null ? 'LockTaken' : onHeld === 'wait' ? 'LockAwaited' : 'LockHeld'
  context.metrics.addMetric(name === 'LockHeld' ? 'lock.acquire.failure' : 'lock.retry.count', MetricUnit.Count, 1)
  const waits = name === 'LockHeld' ? '' : ' This run waits.'
  throw new Failure(name, `${heldText(slice, held)}${waits}`, { data: held })
})

const requireOwn = async (context: TaskContext, slice: Slice, own: JobMessage): Promise<void> => {
  const head = await readHead(context, slice)
  if (head?.job === own.id && head.fence === own.fence) return
  throw new Failure('Superseded', `Another run took over ${sliceName(slice)} while this one had lost its lock.`, {
    job: own.id,
    fence: own.fence,
  })
}
