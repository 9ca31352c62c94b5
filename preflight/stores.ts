import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { messageOf } from '../functions/contract/failures.ts'
import { MasterSecret } from '../functions/contract/migrator-env.ts'
import type { AwsStage } from '../infra/config/config.ts'
import { connectionBudget } from '../infra/config/connections.ts'
import { databaseNames, lockPrefix } from '../infra/config/stores.ts'
import { type Findings, joined, noFindings } from './lacks.ts'
import { lookAtMysql } from './mysql.ts'
import { lookAtValkey } from './valkey.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Looks at the stores of a stage that exist already; those that it brings itself are as they should be. */
export const lookAtStores = async (config: AwsStage, env: Environment): Promise<Findings> =>
  joined([await existingMysql(config), await existingValkey(config, env)])

const existingMysql = async (config: AwsStage): Promise<Findings> => {
  const { stage, region, database } = config
  if (database.kind === 'new') return noFindings()
  const secret = await masterOf(region, database.masterSecretArn)
  if ('lacks' in secret) return secret
  const address = {
    DATABASE_HOST: database.endpoint,
    DATABASE_PORT: database.port,
    DATABASE_NAME: databaseNames(stage, database).schema,
    DATABASE_USER: secret.username,
    DATABASE_PASSWORD: secret.password,
    DATABASE_AUTH: 'password',
    DATABASE_TLS: 'verify',
    AWS_REGION: region,
  } as const
  return await lookAtMysql(address, { connections: connectionBudget(config), iam: true })
}

const masterOf = async (region: string, SecretId: string): Promise<MasterSecret | Findings> => {
  try {
    const client = new SecretsManagerClient({ region })
    const { SecretString = '{}' } = await client.send(new GetSecretValueCommand({ SecretId }))
    return MasterSecret.parse(JSON.parse(SecretString))
  } catch (error) {
    const what = `The secret ${SecretId} does not give a username and a password: ${messageOf(error)}.`
    const remedy = 'The migrator reads it too: give masterSecretArn a secret in JSON with both.'
    return { ...noFindings(), lacks: [{ check: 'master-secret', what, remedy }] }
  }
}

const existingValkey = async (config: AwsStage, env: Environment): Promise<Findings> => {
  const { stage, region, lock } = config
  if (lock.kind === 'new') return noFindings()
  const { SHARELOCK_VALKEY_USER: username, SHARELOCK_VALKEY_PASSWORD: password } = env
  const address = {
    LOCK_HOST: lock.endpoint,
    LOCK_PORT: lock.port,
    LOCK_USER: lock.user,
    LOCK_AUTH: 'iam',
    LOCK_GROUP_ID: lock.groupId,
    LOCK_TLS: 'verify',
    LOCK_PREFIX: lockPrefix(stage),
    AWS_REGION: region,
  } as const
  const administrator = username === undefined || password === undefined ? undefined : { username, password }
  return await lookAtValkey(stage, address, { administrator, nodes: lock.nodeIds.length })
}
