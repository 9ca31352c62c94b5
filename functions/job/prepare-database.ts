import { putDistributor } from '../store/distributor.ts'
import { knowInstance } from '../store/job/fence-floor.ts'
import type { DatabaseAddress } from '../store/mysql/connection.ts'
import { Database } from '../store/mysql/database.ts'
import { createAppUser } from '../store/schema/app-user.ts'
import type { LoginUser } from '../store/schema/login-user.ts'
import { migrate } from '../store/schema/migrate.ts'
import { createReaderUser } from '../store/schema/reader-user.ts'

/** What the deployment's log shows. */
export type Prepared = { readonly applied: readonly string[]; readonly current: string; readonly note: string }

type Besides = {
  /** Its code; none if empty. */
  readonly smokeDistributor?: string
  /** Of the instance, as RDS names it; empty where it is none of RDS. */
  readonly resourceId?: string
  /** Who reads the months. */
  readonly reader?: LoginUser
}

/**
 * Brings a database to this code's schema, then creates the functions' and the readers' user or brings their privileges up to date, then
 * adds the smoke job's distributor where it has one, and raises the fences where this is a restored instance. A second run
 * changes nothing more.
 *
 * A schema with newer migrations is left alone altogether: the older code's grants may name tables that are gone.
 *
 * @param master address of a user who may do all of this
 */
export const prepareDatabase = async (
  master: DatabaseAddress,
  user: LoginUser,
  { smokeDistributor = '', resourceId = '', reader }: Besides = {},
): Promise<Prepared> => {
  const { applied, current, newer } = await migrate(master)
  const raised = resourceId !== '' && (await onDatabase(master, (database) => knowInstance(database, resourceId)))
  const told = raised ? '; the instance was restored, and its fences are raised' : ''
  if (newer) return { applied, current, note: `schema is newer: nothing to do${told}` }
  await createAppUser(master, user)
  if (reader !== undefined) await createReaderUser(master, reader)
  if (smokeDistributor !== '') await addSmokeDistributor(master, smokeDistributor)
  return {
    applied,
    current,
    note: `${applied.length === 0 ? 'schema is current' : `applied ${applied.length} migrations`}${told}`,
  }
}

/** Inactive, so that no month is dispatched to it; all other distributors are added by people. */
const addSmokeDistributor = async (master: DatabaseAddress, code: string): Promise<void> =>
  await onDatabase(master, async (database) => {
    await putDistributor(database, {
      code,
      name: 'smoke job',
      active: false,
      sumRule: 'exact',
      partyScheme: 'opaque',
      replaceMode: 'standby',
    })
  })

const onDatabase = async <T>(master: DatabaseAddress, work: (database: Database) => Promise<T>): Promise<T> => {
  const database = new Database(master)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}
