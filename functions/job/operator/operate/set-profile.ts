import { isDeepStrictEqual } from 'node:util'
import { isFailure } from '../../../contract/failures.ts'
import { profileDocument } from '../../../contract/profile.ts'
import type { ProfileReport } from '../../../contract/profile-report.ts'
import { writeAudit } from '../../../store/audit.ts'
import { findDistributor } from '../../../store/distributor.ts'
import { statement, transaction } from '../../../store/mysql/transaction.ts'
import { addProfile, findProfile, profileReport } from '../../../store/profile.ts'
import type { TaskContext } from '../../task.ts'
import type { Input } from './input.ts'

/**
 * Adds a version to a distributor's profile, which counts from the next file on. Where the newest one says the same,
 * nothing is added: run again because its reply was lost, it finds what it did.
 *
 * @throws Failure UnknownDistributor
 */
export const setProfile = async ({ database }: TaskContext, input: Input<'set-profile'>): Promise<ProfileReport> => {
  const { caller, why, distributor, profile } = input
  await transaction(database, async (tx) => {
    const { id, code } = await findDistributor(tx, distributor)
    await tx.rows('select id from distributor where id = ? for update', [id])
    const newest = await findProfile(tx, { id, code }).catch(unreadable)
    if (isDeepStrictEqual(newest?.profile, profile)) return
    const version = await addProfile(tx, id, profile, { caller, why })
    const detail = { version, profile: JSON.stringify(profileDocument(profile)) }
    await writeAudit(tx, { caller, why, action: 'set-profile', distributor, detail })
  })
  return await statement(database, (reader) => profileReport(reader, distributor))
}

/** A version that this release cannot read is what a new one replaces. */
const unreadable = (error: unknown): undefined => {
  if (!isFailure(error, 'InvalidInput')) throw error
}
