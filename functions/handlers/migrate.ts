import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { AWS_CONNECT_TIMEOUT_MS, AWS_REQUEST_TIMEOUT_MS } from '../contract/limits.ts'
import { MasterSecret, readMigratorEnv } from '../contract/migrator-env.ts'
import { type Prepared, prepareDatabase } from '../job/prepare-database.ts'
import { safeThrow } from '../job/safe-error.ts'

/** A silent endpoint is given up, and the deployment says so, instead of waiting for the function's whole time. */
const REQUEST_HANDLER = {
  connectionTimeout: AWS_CONNECT_TIMEOUT_MS,
  requestTimeout: AWS_REQUEST_TIMEOUT_MS,
  throwOnRequestTimeout: true,
}

/**
 * Brings the database to this deployment's schema before any new code takes traffic, and fails the deployment if it
 * cannot.
 *
 * 1. Read the master secret. 2. Apply the migrations that are missing, under a lock on the server, so never beside
 * another migrator. 3. Create the functions' and the readers' user, who log in with IAM passwords only, and bring their privileges up to date.
 * 4. Where the smoke job runs, add its distributor. 5. Where the instance is another one than the last deployment knew, it was
 * restored: raise the fences.
 *
 * A second run applies nothing and grants the same again. The older migrator that a rollback calls finds a newer schema
 * and touches neither schema nor user: migrations expand first and contract later, so the older code runs on it.
 */
export const handler = (): Promise<Prepared> =>
  migrateStage().catch((error: unknown) => {
    // Lambda logs what an error carries, and mysql2's carry the statement.
    throw safeThrow(error)
  })

const migrateStage = async (): Promise<Prepared> => {
  const env = readMigratorEnv(process.env)
  const secrets = new SecretsManagerClient({ region: env.AWS_REGION, requestHandler: REQUEST_HANDLER })
  const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: env.MASTER_SECRET_ARN }))
  const secret = secretOf(SecretString)
  const prepared = await prepareDatabase(
    {
      DATABASE_HOST: env.DATABASE_HOST,
      DATABASE_PORT: env.DATABASE_PORT,
      DATABASE_NAME: env.DATABASE_NAME,
      DATABASE_USER: secret.username,
      DATABASE_PASSWORD: secret.password,
      DATABASE_AUTH: 'password',
      DATABASE_TLS: 'verify',
      AWS_REGION: env.AWS_REGION,
    },
    { name: env.DATABASE_USER, auth: 'iam' },
    {
      smokeDistributor: env.SMOKE_DISTRIBUTOR,
      resourceId: env.DATABASE_RESOURCE_ID,
      ...(env.READER_USER === '' ? {} : { reader: { name: env.READER_USER, auth: 'iam' } }),
    },
  )
  console.log(JSON.stringify(prepared))
  return prepared
}

/** A parser's own message quotes what it could not read. */
const secretOf = (text: string | undefined): ReturnType<typeof MasterSecret.parse> => {
  try {
    return MasterSecret.parse(JSON.parse(text ?? '{}'))
  } catch {
    throw new Error('The master secret is not what RDS writes: JSON with username and password. See MASTER_SECRET_ARN.')
  }
}
