import { MetricUnit } from '@aws-lambda-powertools/metrics'
import { isFailure } from '../contract/failures.ts'
import type { Guarded } from '../contract/messages.ts'
import { extend } from '../store/lock/extend.ts'
import type { TaskContext } from './task.ts'

/**
 * Verifies and extends the lock before a write. The lock keeps runs from wasting each other's work; it never authorises
 * a write (the fence does), so a run may go on without it: where it never had one (`held` is false), and where Valkey
 * is out of reach and the run's policy is to proceed. Both are logged and counted.
 *
 * @throws Failure LockLost; LockUnreachable where the policy is to halt
 */
export const verifyLock = async (
  context: TaskContext,
  input: Pick<Guarded, 'slice' | 'lock' | 'onOutage'>,
): Promise<void> => {
  if (!input.lock.held) return
  try {
    const ageMs = await extend(await context.lock(), input.slice, input.lock.token)
    context.metrics.addMetric('lock.age', MetricUnit.Milliseconds, ageMs)
  } catch (error) {
    context.metrics.addMetric('lock.renew.failure', MetricUnit.Count, 1)
    if (!isFailure(error, 'LockUnreachable') || input.onOutage === 'halt') throw error
    context.logger.warn('valkey is out of reach; the fence alone protects this write', { error })
  }
}
