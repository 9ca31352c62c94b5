import { Failure } from '../contract/failures.ts'
import { fitting } from '../contract/fitting.ts'
import { CALLER_CHARS_MAX, WHY_CHARS_MAX } from '../contract/limits.ts'
import { CANONICAL, Profile } from '../contract/profile.ts'
import type { ProfileReport, ProfileVersion } from '../contract/profile-report.ts'
import { PROFILE_VERSIONS_SHOWN } from '../contract/support-limits.ts'
import { findDistributor } from './distributor.ts'
import { isoTime } from './mysql/time.ts'
import type { Reader, Tx } from './mysql/tx.ts'

/** A distributor's profile, and which of its versions it is; 0 is the canonical one of those who have none. */
export type StoredProfile = { readonly version: number; readonly profile: Profile }

/**
 * The newest profile of a distributor, or one of its versions.
 *
 * @throws Failure InvalidInput where there is no such version, or this release cannot read it
 */
export const findProfile = async (
  reader: Reader,
  distributor: { readonly id: number; readonly code: string },
  version?: number,
): Promise<StoredProfile> => {
  if (version === 0) return { version, profile: CANONICAL }
  const [found] = await reader.rows<{ version: number; document: unknown }>(
    `select version, document from profile where distributor_id = ? and version = coalesce(?, version)
     order by version desc limit 1`,
    [distributor.id, version ?? null],
  )
  if (found === undefined && version === undefined) return { version: 0, profile: CANONICAL }
  if (found === undefined)
    throw new Failure('InvalidInput', `The profile of ${distributor.code} has no version ${version}.`)
  const { data, error } = Profile.safeParse(found.document)
  if (data !== undefined) return { version: found.version, profile: data }
  throw new Failure(
    'InvalidInput',
    `Version ${found.version} of the profile of ${distributor.code} is none that this release reads; set it again. ${error.message}`,
  )
}

const versionsOf = async (reader: Reader, distributorId: number): Promise<ProfileVersion[]> => {
  const rows = await reader.rows<ProfileVersion>(
    `select version, set_by as setBy, why, set_at as setAt from profile where distributor_id = ?
     order by version desc limit ?`,
    [distributorId, PROFILE_VERSIONS_SHOWN],
  )
  return rows.map((row) => ({ ...row, setAt: isoTime(row.setAt) }))
}

/** @throws Failure UnknownDistributor, InvalidInput */
export const profileReport = async (reader: Reader, distributor: string, version?: number): Promise<ProfileReport> => {
  const { id, code } = await findDistributor(reader, distributor)
  const found = await findProfile(reader, { id, code }, version)
  return { distributor, ...found, versions: await versionsOf(reader, id) }
}

/**
 * Adds a version in the caller's transaction. The distributor's row is held, so that two who set one at a time get a
 * version each.
 *
 * @returns the new version
 */
export const addProfile = async (
  tx: Tx,
  distributorId: number,
  profile: Profile,
  { caller, why }: { readonly caller: string; readonly why: string },
): Promise<number> => {
  await tx.rows('select id from distributor where id = ? for update', [distributorId])
  const [newest] = await tx.rows<{ version: number | null }>(
    'select max(version) as version from profile where distributor_id = ?',
    [distributorId],
  )
  const version = (newest?.version ?? 0) + 1
  await tx.change('insert into profile (distributor_id, version, document, set_by, why) values (?, ?, ?, ?, ?)', [
    distributorId,
    version,
    JSON.stringify(profile),
    fitting(caller, CALLER_CHARS_MAX),
    fitting(why, WHY_CHARS_MAX),
  ])
  return version
}
