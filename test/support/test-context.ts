import { Logger } from '@aws-lambda-powertools/logger'
import { Metrics } from '@aws-lambda-powertools/metrics'
import { S3Client } from '@aws-sdk/client-s3'
import { SNSClient } from '@aws-sdk/client-sns'
import { inject, vi } from 'vitest'
import { readEnv } from '../../functions/contract/env.ts'
import type { Expectation, Guarded, JobMessage, OpenJobInput, Staged } from '../../functions/contract/messages.ts'
import type { Slice } from '../../functions/contract/words.ts'
import type { TaskContext } from '../../functions/job/task.ts'
import { type LockClient, openLockClient } from '../../functions/store/lock/client.ts'
import { holderOf } from '../../functions/store/lock/holder.ts'
import type { Database } from '../../functions/store/mysql/database.ts'

/** A task context whose database a test can look at and interfere with. */
export type TestContext = TaskContext & { readonly database: Database }

/** The context of a task on real servers without a Lambda around it: what `task` hands to a handler's work. */
export const testContext = (database: Database, lock?: LockClient): TestContext => {
  const valkey = inject('valkey')
  const env = readEnv({
    STAGE: 'test',
    BUCKET: 'unused',
    DATABASE_HOST: '127.0.0.1',
    DATABASE_USER: 'unused',
    DATABASE_TLS: 'off',
    LOCK_HOST: valkey.host,
    LOCK_PORT: String(valkey.port),
    LOCK_AUTH: 'none',
    LOCK_TLS: 'off',
  })
  let client: Promise<LockClient> | undefined = lock === undefined ? undefined : Promise.resolve(lock)
  return {
    env,
    database,
    lock: () => {
      client ??= openLockClient(env)
      return client
    },
    s3: new S3Client({ region: env.AWS_REGION }),
    sns: new SNSClient({ region: env.AWS_REGION }),
    logger: new Logger({ logLevel: 'SILENT' }),
    metrics: new Metrics({ namespace: 'test', singleMetric: false }),
    remainingMs: () => 300_000,
  }
}

/** The names and values of what a task counts from now on. */
export const countedBy = (by: TaskContext): [string, number][] => {
  const counted: [string, number][] = []
  vi.spyOn(by.metrics, 'addMetric').mockImplementation((name, _, value) => {
    counted.push([name, value])
    return by.metrics
  })
  return counted
}

export const stagedOf = (letter: string, rows = 8, shareSum = '200.000000'): Staged => ({
  digest: letter.repeat(64),
  rows,
  shareSum,
  chunks: 1,
})

/** The execution that minted a token. */
export const executionOf = (token: string): string => `arn:execution:${holderOf(token)}`

/** When every execution of the tests was started, unless a test says otherwise. */
export const LIFE = { startedAt: '2026-10-01T00:00:00.000Z', redrives: 0 }

/** What EventBridge tells of the end of a token's execution. */
export const endOf = (token: string, change: { startedAt?: string; redriveCount?: number } = {}) => ({
  'detail-type': 'Step Functions Execution Status Change' as const,
  detail: {
    executionArn: executionOf(token),
    status: 'ABORTED' as const,
    startDate: Date.parse(change.startedAt ?? LIFE.startedAt),
    redriveCount: change.redriveCount ?? 0,
  },
})

/** The input of OpenJob for a token that needs no lock. */
export const opening = (
  slice: Slice,
  token: string,
  head: OpenJobInput['head'],
  change: {
    staged?: Staged
    own?: JobMessage | null
    supersede?: boolean
    force?: boolean
    expect?: Expectation
    execution?: string
  } = {},
): OpenJobInput => {
  const staged = change.staged ?? stagedOf('a')
  return {
    request: {
      distributor: slice.distributor,
      month: slice.month,
      source: { staged: staged.digest },
      onHeld: 'fail',
      onOutage: 'halt',
      supersede: change.supersede ?? false,
      force: change.force ?? false,
      requestedBy: 'test',
      expect: change.expect,
    },
    execution: change.execution ?? executionOf(token),
    life: LIFE,
    slice,
    staged,
    lock: { token, held: false },
    head,
    own: change.own ?? null,
  }
}

export const headOf = (job: JobMessage) => ({ job: job.id, fence: job.fence })

/** The input of a guarded task of this job, without a lock. */
export const guarded = (slice: Slice, job: JobMessage, token = 'a/1'): Guarded => ({
  slice,
  lock: { token, held: false },
  onOutage: 'halt',
  job,
})
