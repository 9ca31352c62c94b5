import type { Guarded } from '../contract/messages.ts'
import { acquisitionOf, requireOurs } from '../store/job/guard.ts'
import { statement } from '../store/mysql/transaction.ts'
import { requireObjects } from '../store/s3/staged.ts'
import type { TaskContext } from './task.ts'
import { verifyLock } from './verify-lock.ts'

/**
 * Sees, right before the first delete, that everything which will be registered is still there: StageSource read it
 * all, but the lock may have been waited for since, for hours. The names and sizes are looked at, some 1,000 a request.
 *
 * @throws Failure LockLost, StaleFence, StagedSourceDamaged, StorageUnreachable
 */
export const requireSource = async (context: TaskContext, input: Guarded): Promise<void> => {
  const { database, s3, env } = context
  // First, as in every task: a run that lost its lock acquires a new one, even if more is wrong.
  await verifyLock(context, input)
  const { source_digest } = await statement(database, (reader) => requireOurs(reader, acquisitionOf(input), 'DELETING'))
  await requireObjects(s3, env.BUCKET, source_digest)
}
