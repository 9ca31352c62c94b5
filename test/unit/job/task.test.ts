import { Metrics } from '@aws-lambda-powertools/metrics'
import type { Context } from 'aws-lambda'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { type TaskContext, task } from '../../../functions/job/task.ts'
import { statement } from '../../../functions/store/mysql/transaction.ts'

const ENV = {
  ...{ STAGE: 'test', BUCKET: 'bucket', DATABASE_HOST: '127.0.0.1', DATABASE_USER: 'app', DATABASE_TLS: 'off' },
  ...{ DATABASE_AUTH: 'password', LOCK_HOST: '127.0.0.1', LOCK_TLS: 'off', LOCK_AUTH: 'none' },
  ...{ POWERTOOLS_LOG_LEVEL: 'SILENT', POWERTOOLS_METRICS_DISABLED: 'true' },
}

beforeEach(() => {
  for (const [name, value] of Object.entries(ENV)) vi.stubEnv(name, value)
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

const endingIn = (ms: number): Context => {
  const endsAt = Date.now() + ms
  return { getRemainingTimeInMillis: () => Math.max(0, endsAt - Date.now()) } as Context
}

describe('a handler', () => {
  test("gives no answer of its own before its work has ended: at Lambda's end and long after it is still at work", async () => {
    const { promise: work, resolve: finish } = Promise.withResolvers<string>()
    const settled = vi.fn()
    const answer = task('ReadHead', z.unknown(), () => work)({}, endingIn(10_000))
    answer.then(settled, settled)
    await vi.advanceTimersByTimeAsync(9_996)
    expect(settled).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(settled).not.toHaveBeenCalled()
    finish('done')
    await expect(answer).resolves.toBe('done')
  })

  test('takes back what its work had: the database, the lock and S3 refuse what comes after the answer', async () => {
    const kept: TaskContext[] = []
    await task('ReadHead', z.unknown(), async (_, run) => void kept.push(run))({}, endingIn(10_000))
    const [run] = kept as [TaskContext]
    await expect(statement(run.database, (reader) => reader.rows('select 1'))).rejects.toMatchObject({
      name: 'InvocationOver',
    })
    await expect(run.lock()).rejects.toMatchObject({ name: 'InvocationOver' })
    await expect(run.s3.send({} as never)).rejects.toMatchObject({ name: 'InvocationOver' })
    await expect(run.sns.send({} as never)).rejects.toMatchObject({ name: 'InvocationOver' })
  })

  test('takes it back after a failure too, which leaves it by its own name', async () => {
    const kept: TaskContext[] = []
    const failing = task('ReadHead', z.unknown(), async (_, run) => {
      kept.push(run)
      throw new Error('as it came')
    })
    await expect(failing({}, endingIn(10_000))).rejects.toThrow('as it came')
    await expect(
      statement((kept[0] as TaskContext).database, (reader) => reader.rows('select 1')),
    ).rejects.toMatchObject({
      name: 'InvocationOver',
    })
  })

  test('has logs and metrics that are its own: a later one does not name the earlier job', async () => {
    const runs: TaskContext[] = []
    const handler = task('ReadHead', z.unknown(), async (_, run) => void runs.push(run))
    await handler({ execution: 'one' }, endingIn(10_000))
    await handler({ execution: 'two' }, endingIn(10_000))
    const [one, two] = runs as [TaskContext, TaskContext]
    expect(one.logger.getPersistentLogAttributes()).not.toBe(two.logger.getPersistentLogAttributes())
    expect(one.metrics).not.toBe(two.metrics)
  })

  test.each([
    ['little', 1_000_000, false],
    ['nearly all', 64, true],
  ])('that has used %s of its memory tells it where it is much', async (_, functionMb, isTold) => {
    vi.stubEnv('AWS_LAMBDA_FUNCTION_MEMORY_SIZE', String(functionMb))
    const counted = vi.spyOn(Metrics.prototype, 'addMetric')
    await task('ReadHead', z.unknown(), async () => 'done')({}, endingIn(10_000))
    expect(counted.mock.calls.filter(([name]) => name === 'memory.used')).toHaveLength(isTold ? 1 : 0)
    counted.mockRestore()
  })

  test('with too little time left to do anything says so at once, and asks nobody', async () => {
    const asking = task('ReadHead', z.unknown(), (_, { database }) =>
      statement(database, (reader) => reader.rows('select 1')),
    )
    await expect(asking({}, endingIn(2_000))).rejects.toMatchObject({ name: 'OutOfTime' })
  })
})
