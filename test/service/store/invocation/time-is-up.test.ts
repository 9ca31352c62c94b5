import type { Context } from 'aws-lambda'
import { describe, expect, test } from 'vitest'
import { failuresOf } from '../../../../functions/contract/failure-table.ts'
import { ANSWER_RESERVE_MS } from '../../../../functions/contract/limits.ts'
import { linesIn } from '../../../support/registering.ts'
import {
  atRollback,
  contextNow,
  db,
  expectConsistent,
  http,
  job,
  publishEvents,
  registerChunk,
  WAITS,
} from '../../../support/stuck-task.ts'

describe('an invocation that is stuck until its time is up', () => {
  const TRANSIENT = failuresOf('transient').filter((name) => name !== 'InvocationOver')
  /** Waits end after this, and Lambda would end the process ANSWER_RESERVE_MS later. */
  const TIME_MS = 1_500

  test.each(WAITS)(
    'at %s: it answers by the name of a failure that is retried, and the next is exact',
    async (_, stick) => {
      const [one, other] = [await job(), await job()]
      const stuck = await stick(one)
      // A chunk loop would not begin with so little left, so its own look at the clock sees more.
      let looks = 0
      const getRemainingTimeInMillis = () => {
        looks += 1
        return looks === 1 ? TIME_MS + ANSWER_RESERVE_MS : 300_000
      }
      const context = { getRemainingTimeInMillis } as Context
      const end = await registerChunk(one.input, context).catch((error: unknown) => error)
      if (stick !== atRollback) expect(TRANSIENT).toContain((end as Error).name)
      stuck.release()
      expect(await registerChunk(other.input, contextNow())).toEqual({ chunks: other.chunks, rows: other.file.rows })
      expect(await linesIn(db, other.slice)).toEqual(other.file.lines)
      await expectConsistent(one)
    },
  )

  test('at a silent topic: its run waits for seconds, the events stay, and the sweeper may send them', async () => {
    const { input } = await job()
    for (let events = 0; events < 3; events += 1)
      await db.outside.change(
        `insert into outbox (event_id, job_id, type, payload) values (uuid(), ?, 'JobRegistered', '{}')`,
        [input.job.id],
      )
    const stuck = http.hold({ path: /^\/$/, part: 'request' }, 100)
    const startedAt = performance.now()
    expect(await publishEvents({ job: input.job }, contextNow(60_000))).toMatchObject({
      published: 0,
      pending: 3,
      failure: expect.stringContaining('SNS did not answer'),
    })
    // The bound is 5 s; a busy machine takes its time for the rest, and without a bound it would be the task's minute.
    expect(performance.now() - startedAt).toBeLessThan(30_000)
    http.disarmAll()
    stuck.release()
    expect(await publishEvents({ job: input.job }, contextNow(60_000))).toMatchObject({ published: 3, pending: 0 })
  })
})
