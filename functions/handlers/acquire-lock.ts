import { MetricUnit } from '@aws-lambda-powertools/metrics'
import { Failure } from '../contract/errors.ts'
import { AcquireLockInput } from '../contract/messages.ts'
import { sliceName } from '../contract/words.ts'
import { readHead } from '../job/read-head.ts'
import { task } from '../job/task.ts'
import { tryAcquire } from '../store/lock/acquire.ts'
import { lastsText } from '../store/lock/holder.ts'

/**
 * Takes the slice's lock and reads the slice's head, in this order: OpenJob then sets only what was read under the lock.
 *
 * A second run with the same token finds the lock its own. While another run holds it the input's policy decides which
 * failure is thrown: LockHeld ends the execution, LockAwaited is retried by the engine with full jitter.
 */
export const handler = task('AcquireLock', AcquireLockInput, async ({ slice, lock, onHeld }, run) => {
  const startedAt = performance.now()
  const held = await tryAcquire(await run.lock(), slice, lock.token).catch((error: unknown) => {
    run.metrics.addMetric('lock.acquire.timeout', MetricUnit.Count, 1)
    throw error
  })
  run.metrics.addMetric('lock.acquire.latency', MetricUnit.Milliseconds, performance.now() - startedAt)
  if (held === null) {
    run.metrics.addMetric('lock.acquire.success', MetricUnit.Count, 1)
    return { head: await readHead(run, slice) }
  }
  run.metrics.addMetric(onHeld === 'wait' ? 'lock.retry.count' : 'lock.acquire.failure', MetricUnit.Count, 1)
  throw new Failure(
    onHeld === 'wait' ? 'LockAwaited' : 'LockHeld',
    `${sliceName(slice)} is being replaced by the run ${held.holder}; its lock ${lastsText(held.remainingMs)}. ${
      onHeld === 'wait' ? 'This run waits.' : 'Watch that run, or start again when it has ended.'
    }`,
  )
})
