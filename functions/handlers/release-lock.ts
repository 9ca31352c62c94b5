import { MetricUnit } from '@aws-lambda-powertools/metrics'
import { isLockProblem } from '../contract/failures.ts'
import { ReleaseLockInput } from '../contract/messages.ts'
import { task } from '../job/task.ts'
import { release } from '../store/lock/release.ts'

/**
 * Deletes the lock where it carries our token. `released` is false where there was nothing of ours to delete: a second
 * run, a lock that expired, or a run that proceeds without one. Such a run tries once all the same: the reply to its
 * AcquireLock may have been lost after the key was set.
 */
export const handler = task('ReleaseLock', ReleaseLockInput, async ({ slice, lock }, context) => {
  try {
    return { released: await release(await context.lock(), slice, lock.token) }
  } catch (error) {
    context.metrics.addMetric('lock.unlock.failure', MetricUnit.Count, 1)
    if (lock.held || !isLockProblem(error)) throw error
    return { released: false }
  }
})
