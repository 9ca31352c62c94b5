import { describe, expect, test } from 'vitest'
import { linesIn, markedIn, type Registering } from '../../../support/registering.ts'
import {
  atRollback,
  atStatement,
  contextNow,
  db,
  expectConsistent,
  http,
  job,
  publishEvents,
  registerChunk,
  WAITS,
} from '../../../support/stuck-task.ts'

/*
 * Two invocations in one process, the first one stuck at each of its waits. On Lambda this is a sandbox that answered for
 * a task before it had ended, and was frozen in the middle of it.
 */

const LATE_MS = 500

describe('an invocation that is stuck when the next one begins in its sandbox', () => {
  test.each(WAITS)('at %s: it ends by name, and nothing of it takes effect in the next', async (_, stick) => {
    const [one, other] = [await job(), await job()]
    const stuck = await stick(one)
    const first = registerChunk(one.input, contextNow()).catch((error: unknown) => error)
    await stuck.hit
    // The next one is in the middle of its transaction when the first is let go.
    const inTransaction = atStatement(/^update job_chunk/, 'after')
    const second = registerChunk(other.input, contextNow())
    await inTransaction.hit
    stuck.release()
    await new Promise((resume) => setTimeout(resume, LATE_MS))
    inTransaction.release()
    expect(await second).toEqual({ chunks: other.chunks, rows: other.file.rows })
    // A roll-back has its reason, which is the failure.
    expect(await first).toMatchObject({ name: stick === atRollback ? 'ChunkMismatch' : 'InvocationOver' })
    expect(await linesIn(db, other.slice)).toEqual(other.file.lines)
    expect(await markedIn(db, other)).toEqual({ chunks: other.chunks, rows: other.file.rows })
    await expectConsistent(one)
    // And the first slice's chunks can be done by the attempt that follows.
    if (stick === atRollback) return
    await registerChunk(one.input, contextNow())
    expect(await linesIn(db, one.slice)).toEqual(one.file.lines)
  })

  test('at the topic: it ends by name, and marks no event', async () => {
    const event = async ({ input: { job } }: Registering): Promise<void> => {
      await db.outside.change(
        `insert into outbox (event_id, job_id, type, payload) values (uuid(), ?, 'JobRegistered', '{}')`,
        [job.id],
      )
    }
    const pending = async ({ input: { job } }: Registering): Promise<number> =>
      (await db.outside.rows('select 1 from outbox where job_id = ? and published_at is null', [job.id])).length
    const [one, other] = [await job(), await job()]
    await event(one)
    await event(other)
    const stuck = http.hold({ path: /^\/$/, part: 'request' })
    const first = publishEvents({ job: one.input.job }, contextNow(60_000)).catch((error: unknown) => error)
    await stuck.hit
    expect(await publishEvents({ job: other.input.job }, contextNow(60_000))).toMatchObject({
      published: 1,
      pending: 0,
    })
    stuck.release()
    expect(await first).toMatchObject({ name: 'InvocationOver' })
    await new Promise((resume) => setTimeout(resume, LATE_MS))
    expect([await pending(one), await pending(other)]).toEqual([1, 0])
  })
})
