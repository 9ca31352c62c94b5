import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics } from '@aws-lambda-powertools/metrics'
import { S3Client } from '@aws-sdk/client-s3'
import { SNSClient } from '@aws-sdk/client-sns'
import { type Env, readEnv } from '../contract/env.ts'
import { AWS_CONNECT_TIMEOUT_MS, AWS_REQUEST_TIMEOUT_MS } from '../contract/limits.ts'
import { METRIC_NAMESPACE } from '../contract/metrics.ts'
import { Database } from '../store/database.ts'
import { type LockClient, openLockClient } from '../store/lock/client.ts'

/** What a task works with: one connection each, opened at first use and kept for the life of the sandbox. */
export type Services = {
  readonly env: Env
  readonly database: Database
  readonly lock: () => Promise<LockClient>
  readonly s3: S3Client
  readonly sns: SNSClient
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Builds the services from the environment. Connecting is left to the first use: many tasks need only one of them. */
export const createServices = (task: string, source: Record<string, string | undefined>): Services => {
  const env = readEnv(source)
  let client: Promise<LockClient> | undefined
  const metrics = new Metrics({ namespace: METRIC_NAMESPACE })
  // The stage only, so the service that Powertools adds by itself goes: alarms look for this dimension and no other, and
  // one per distributor would make, and cost, a metric per distributor.
  metrics.clearDefaultDimensions()
  metrics.setDefaultDimensions({ stage: env.STAGE })
  const requestHandler = {
    connectionTimeout: AWS_CONNECT_TIMEOUT_MS,
    requestTimeout: AWS_REQUEST_TIMEOUT_MS,
    // Without it the SDK only logs a warning and goes on waiting.
    throwOnRequestTimeout: true,
  }
  return {
    env,
    database: new Database(env),
    lock: () => {
      client ??= openLockClient(env)
      return client
    },
    // Every staged object is verified by its own SHA-256, so a second checksum of each would only cost time.
    s3: new S3Client({
      region: env.AWS_REGION,
      forcePathStyle: true,
      requestHandler,
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
    sns: new SNSClient({ region: env.AWS_REGION, requestHandler }),
    logger: new Logger({ serviceName: task }),
    metrics,
  }
}
