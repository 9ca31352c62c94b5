import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { MasterSecret, readMigratorEnv } from '../contract/migrator-env.ts'
import { createAppUser } from '../store/app-user.ts'
import { Database, type DatabaseAddress } from '../store/database.ts'
import { putDistributor } from '../store/distributor.ts'
import { migrate } from '../store/migrate.ts'

/** What the deployment's log shows. */
export type Migrated = { readonly applied: readonly string[]; readonly current: string; readonly note: string }

/**
 * Brings the database to this deployment's schema before any new code takes traffic, and fails the deployment if it
 * cannot.
 *
 * 1. Read the master secret. 2. Apply the migrations that are missing, under a lock on the server, so never beside
 * another migrator. 3. Create the functions' user, who logs in with IAM tokens only, and bring its privileges up to date.
 * 4. Where the smoke job runs, add its distributor.
 *
 * A second run applies nothing and grants the same again. The older migrator that a rollback calls finds a newer schema
 * and touches neither schema nor user: migrations expand first and contract later, so the older code runs on it.
 */
export const handler = async (): Promise<Migrated> => {
  const env = readMigratorEnv(process.env)
  const { SecretString } = await new SecretsManagerClient({ region: env.AWS_REGION }).send(
    new GetSecretValueCommand({ SecretId: env.MASTER_SECRET_ARN }),
  )
  const secret = MasterSecret.parse(JSON.parse(SecretString ?? '{}'))
  const master: DatabaseAddress = {
    DATABASE_HOST: env.DATABASE_HOST,
    DATABASE_PORT: env.DATABASE_PORT,
    DATABASE_NAME: env.DATABASE_NAME,
    DATABASE_USER: secret.username,
    DATABASE_PASSWORD: secret.password,
    DATABASE_AUTH: 'password',
    DATABASE_TLS: 'verify',
    AWS_REGION: env.AWS_REGION,
  }
  const { applied, current, newer } = await migrate(master)
  if (newer) return { applied, current, note: 'schema is newer: nothing to do' }
  await createAppUser(master, { name: env.DATABASE_USER, auth: 'iam' })
  if (env.SMOKE_DISTRIBUTOR !== '') await addSmokeDistributor(master, env.SMOKE_DISTRIBUTOR)
  return { applied, current, note: applied.length === 0 ? 'schema is current' : `applied ${applied.length} migrations` }
}

/** Inactive, so that no month is dispatched to it; all other distributors are added by people. */
const addSmokeDistributor = async (master: DatabaseAddress, code: string): Promise<void> => {
  const database = new Database(master)
  try {
    await putDistributor(database, {
      code,
      name: 'smoke job',
      active: false,
      sumRule: 'exact',
      partyScheme: 'opaque',
    })
  } finally {
    await database.close()
  }
}
