import { prepareDatabase } from '../functions/job/prepare-database.ts'
import type { LocalDatabase } from './servers/stores.ts'

/** The distributor of `npm run smoke`. */
const SMOKE_DISTRIBUTOR = 'SMOKE'

/** What the migrator does in AWS. */
export const defaultPrepare = async ({ database }: { readonly database: LocalDatabase }): Promise<void> => {
  const { user: name, password } = database.app
  await prepareDatabase(
    database.masterAddress,
    { name, auth: 'password', password },
    { smokeDistributor: SMOKE_DISTRIBUTOR },
  )
}
