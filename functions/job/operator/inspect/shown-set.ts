import type { SetReport } from '../../../contract/reports.ts'
import type { SliceName } from '../../../contract/words.ts'
import { activeSet } from '../../../store/active-set.ts'
import { compareSet } from '../../../store/compare-set.ts'
import { findDistributor } from '../../../store/distributor.ts'
import { readJob } from '../../../store/job/row.ts'
import { reading, statement } from '../../../store/mysql/transaction.ts'
import { readManifest } from '../../../store/s3/staged.ts'
import type { TaskContext } from '../../task.ts'

/**
 * The set that readers see beside the manifest of what was registered; null where they see none.
 *
 * @throws Failure UnknownDistributor, StagedSourceDamaged where the manifest is gone
 */
export const shownSet = async (
  { database, s3, env }: TaskContext,
  { distributor, month }: SliceName,
): Promise<SetReport | null> => {
  const job = await statement(database, async (reader) => {
    const { id: distributorId } = await findDistributor(reader, distributor)
    const active = await activeSet(reader, { distributorId, month })
    return active === undefined ? undefined : await readJob(reader, active.job)
  })
  if (job === undefined) return null
  const manifest = await readManifest(s3, env.BUCKET, job.source_digest)
  return { job: job.id, ...(await reading(database, (reader) => compareSet(reader, job, manifest))) }
}
