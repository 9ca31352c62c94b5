import type { AwsServer } from './servers/aws.ts'
import type { LocalDatabase, LockServer } from './servers/stores.ts'

type Servers = { readonly database: LocalDatabase; readonly lock: LockServer; readonly aws: AwsServer }
type Variables = Readonly<Record<string, string>>

const storesEnvironment = ({ database, lock, aws }: Servers): Variables => ({
  DATABASE_HOST: database.host,
  DATABASE_PORT: String(database.port),
  DATABASE_NAME: database.name,
  DATABASE_USER: database.app.user,
  DATABASE_PASSWORD: database.app.password,
  DATABASE_AUTH: 'password',
  DATABASE_TLS: 'off',
  LOCK_HOST: lock.host,
  LOCK_PORT: String(lock.port),
  LOCK_AUTH: 'none',
  LOCK_TLS: 'off',
  BUCKET: aws.bucket,
  AWS_ENDPOINT_URL_S3: aws.endpoint,
  AWS_ENDPOINT_URL_SNS: aws.endpoint,
  AWS_ENDPOINT_URL_SQS: aws.endpoint,
})

/** A function's variables as the template gives them, with this stack's addresses in place of AWS's. */
export const functionEnvironment = (template: Variables, servers: Servers, more: Variables = {}): Variables => ({
  ...template,
  ...storesEnvironment(servers),
  // Only where the template grants the topic: a function that publishes without it must fail here too.
  ...('TOPIC_ARN' in template ? { TOPIC_ARN: servers.aws.topicArn } : {}),
  ...more,
})

/** The variables with which a client outside talks to this stack as if it were AWS. */
export const clientEnvironment = (
  servers: Servers & { readonly url: string; readonly lambdaUrl: string; readonly machineArn: string },
): Variables => ({
  ...storesEnvironment(servers),
  STAGE: 'local',
  SHARELOCK_STAGE: 'local',
  TOPIC_ARN: servers.aws.topicArn,
  QUEUE_URL: servers.aws.queueUrl,
  STATE_MACHINE_ARN: servers.machineArn,
  AWS_ENDPOINT_URL_SFN: servers.url,
  AWS_ENDPOINT_URL_LAMBDA: servers.lambdaUrl,
  AWS_ENDPOINT_URL_STS: servers.aws.endpoint,
  AWS_REGION: 'ap-northeast-2',
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local-secret-access-key',
})
