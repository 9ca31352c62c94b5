import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics } from '@aws-lambda-powertools/metrics'
import { S3Client } from '@aws-sdk/client-s3'
import { SNSClient } from '@aws-sdk/client-sns'
import { type Env, readEnv } from '../contract/env.ts'
import {
  ANSWER_RESERVE_MS,
  AWS_ATTEMPTS_MAX,
  AWS_CALL_TIMEOUT_MS,
  AWS_CONNECT_TIMEOUT_MS,
  AWS_REQUEST_TIMEOUT_MS,
  TOPIC_CALL_TIMEOUT_MS,
  TOPIC_REQUEST_TIMEOUT_MS,
} from '../contract/limits.ts'
import { METRIC_NAMESPACE } from '../contract/metrics.ts'
import { IdlePool } from '../store/invocation/idle-pool.ts'
import { Invocation } from '../store/invocation/invocation.ts'
import { lendClient } from '../store/invocation/lent-client.ts'
import { type LockClient, openLockClient } from '../store/lock/client.ts'
import { lendLock, type OpenLockClient } from '../store/lock/lend.ts'
import { idleConnection } from '../store/mysql/connected.ts'
import { Database, type LentDatabase } from '../store/mysql/database.ts'
import { safeLogValue } from './safe-error.ts'

/** What one invocation works with. It owns all of this until it ends; nothing of it works afterwards. */
export type Services = {
  readonly env: Env
  readonly database: LentDatabase
  readonly lock: () => Promise<LockClient>
  readonly s3: S3Client
  readonly sns: SNSClient
  readonly logger: Logger
  readonly metrics: Metrics
}

/** `end` ends the invocation: idle connections go back to the sandbox, busy ones are closed. */
export type Begun = { readonly services: Services; readonly end: () => void }

/** The environment of a task's process, and the connections that it keeps from one invocation to the next. */
export class Sandbox {
  readonly #env: Env
  readonly #task: string
  readonly #connection = idleConnection()
  readonly #lock = new IdlePool<OpenLockClient>((client) => client.disconnect())
  readonly #s3: S3Client
  readonly #sns: SNSClient
  #current: Invocation | undefined

  /** Connecting is left to the first use: many tasks need only one of the stores. */
  constructor(task: string, source: Record<string, string | undefined>) {
    this.#env = readEnv(source)
    this.#task = task
    const common = { region: this.#env.AWS_REGION, maxAttempts: AWS_ATTEMPTS_MAX }
    // Every staged object is verified by its own SHA-256, so a second checksum of each would only cost time.
    this.#s3 = new S3Client({
      ...common,
      forcePathStyle: true,
      requestHandler: requestHandler(AWS_CONNECT_TIMEOUT_MS, AWS_REQUEST_TIMEOUT_MS),
      responseChecksumValidation: 'WHEN_REQUIRED',
    })
    this.#sns = new SNSClient({
      ...common,
      requestHandler: requestHandler(TOPIC_REQUEST_TIMEOUT_MS, TOPIC_REQUEST_TIMEOUT_MS),
    })
  }

  /**
   * Begins an invocation. One before it that did not end, because it was answered for, is over from here on.
   *
   * @param remainingMs until Lambda ends the invocation; without a limit for programs that it does not call
   */
  begin(remainingMs = Number.POSITIVE_INFINITY): Begun {
    this.#current?.end()
    const env = this.#env
    const invocation = new Invocation(remainingMs - ANSWER_RESERVE_MS)
    this.#current = invocation
    const services: Services = {
      env,
      database: new Database(env, invocation, this.#connection),
      lock: lendLock(() => openLockClient(env), this.#lock, invocation),
      s3: lendClient(this.#s3, 'S3', invocation, AWS_CALL_TIMEOUT_MS),
      sns: lendClient(this.#sns, 'SNS', invocation, TOPIC_CALL_TIMEOUT_MS),
      logger: new Logger({ serviceName: this.#task, jsonReplacerFn: safeLogValue }),
      metrics: metricsOf(env.STAGE),
    }
    return { services, end: () => invocation.end() }
  }

  /** Closes what was kept, once the last invocation has ended. */
  close(): void {
    this.#current?.end()
    this.#connection.take()?.connection.destroy()
    this.#lock.take()?.disconnect()
    this.#s3.destroy()
    this.#sns.destroy()
  }
}

const requestHandler = (connectionTimeout: number, requestTimeout: number) => ({
  connectionTimeout,
  requestTimeout,
  // Without it the SDK only logs a warning and goes on waiting.
  throwOnRequestTimeout: true,
})

/** By stage only: alarms look for this dimension and no other, and one per distributor would cost a metric each. */
const metricsOf = (stage: string): Metrics => {
  const metrics = new Metrics({ namespace: METRIC_NAMESPACE })
  // The service, which Powertools adds by itself.
  metrics.clearDefaultDimensions()
  metrics.setDefaultDimensions({ stage })
  return metrics
}
