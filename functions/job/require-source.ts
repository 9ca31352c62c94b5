import type { Guarded } from '../contract/messages.ts'
import { guardExclusive } from '../store/job.ts'
import { requireObjects } from '../store/staged-source.ts'
import { statement } from '../store/transaction.ts'
import type { Run } from './task.ts'

/**
 * Sees, right before the first delete, that everything which will be registered is still there: StageSource read it all,
 * but the lock may have been waited for since, for hours. The names and sizes are looked at, some 1,000 a request.
 *
 * @throws Failure StagedSourceDamaged, StaleFence (before anything else is asked), StorageUnreachable
 */
export const requireSource = async (run: Run, { job }: Guarded): Promise<void> => {
  const { database, s3, env } = run
  const guard = { id: job.id, fence: job.fence, state: 'DELETING' } as const
  const { source_digest } = await statement(database, () => guardExclusive(database, guard))
  await requireObjects(s3, env.BUCKET, source_digest)
}
