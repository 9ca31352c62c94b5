import { describe, expect, test } from 'vitest'
import type { JobMessage } from '../../../functions/contract/messages.ts'
import type { Slice } from '../../../functions/contract/words.ts'
import { haltFromCatch } from '../../../functions/job/halt-job.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { executionOf, headOf, opening, testContext } from '../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('open')
const run = () => testContext(db.connect())

/** Halts a job as the run of that token would, which holds no lock. */
const halt = (slice: Slice, token: string, job: JobMessage | null) =>
  haltFromCatch(run(), {
    execution: executionOf(token),
    slice,
    lock: { token, held: false },
    job,
    failure: { Error: 'ChunkMismatch', Cause: JSON.stringify({ errorMessage: 'chunk 3 differs' }) },
  })

/** Until the server holds a session back for a lock. */
const untilWaiting = async (): Promise<void> => {
  while ((await db.outside.rows('select 1 from performance_schema.data_lock_waits limit 1')).length === 0);
}

describe('a frozen worker that holds the job row', () => {
  test('is killed where it had inserted the slice’s very first job, and another run opens it', async () => {
    const slice = await newSlice(db.outside)
    const frozen = testContext(db.connect())
    const open = Promise.withResolvers<void>()
    frozen.database.commit = () => {
      open.resolve()
      return new Promise(() => undefined)
    }
    openJob(frozen, opening(slice, 'a/1', null)).catch(() => undefined)
    await open.promise
    const job = await openJob(run(), opening(slice, 'b/2', null))
    expect(job).toMatchObject({ fence: 1, outcome: 'opened' })
    expect(
      await db.outside.rows('select lock_token from job where settlement_month = ? and distributor_id = ?', [
        `${slice.month}-01`,
        slice.distributorId,
      ]),
    ).toEqual([{ lock_token: 'b/2' }])
    await expect(frozen.database.rows('select 1')).rejects.toThrow()
  })

  test('is killed where the server refused its insert after it froze, and no opener, halt or neighbour waits for it', async () => {
    const [early, slice] = [await newSlice(db.outside), await newSlice(db.outside)]
    const [first, frozen] = [run(), run()]
    const [inserted, sent, thaw] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ]
    const commit = first.database.commit.bind(first.database)
    first.database.commit = async () => {
      inserted.resolve()
      await thaw.promise
      await commit()
    }
    const begin = frozen.database.begin.bind(frozen.database)
    let winner: Promise<JobMessage> | undefined
    frozen.database.begin = async (patienceS) => {
      // Both have seen no job by now.
      winner ??= openJob(first, opening(slice, 'a/1', null))
      await inserted.promise
      return await begin(patienceS)
    }
    const change = frozen.database.change.bind(frozen.database)
    frozen.database.change = async (sql, ...more) => {
      if (!sql.startsWith('insert into job ')) return await change(sql, ...more)
      change(sql, ...more).catch(() => undefined)
      sent.resolve()
      return await new Promise(() => undefined)
    }
    openJob(frozen, opening(slice, 'b/2', null)).catch(() => undefined)
    await sent.promise
    await untilWaiting()
    thaw.resolve()
    const job = (await winner) as JobMessage
    const [next, neighbour] = await Promise.all([
      openJob(run(), opening(slice, 'c/3', headOf(job))),
      openJob(run(), opening(early, 'n/1', null)),
    ])
    expect(next).toMatchObject({ id: job.id, fence: 2, outcome: 'taken over' })
    expect(neighbour).toMatchObject({ fence: 1, outcome: 'opened' })
    expect(await halt(slice, 'c/3', next)).toMatchObject({ halted: true })
  })

  test('is killed by an opener that had looked before the frozen one inserted', async () => {
    const slice = await newSlice(db.outside)
    const [frozen, late] = [run(), run()]
    const inserted = Promise.withResolvers<void>()
    frozen.database.commit = () => {
      inserted.resolve()
      return new Promise(() => undefined)
    }
    const begin = late.database.begin.bind(late.database)
    late.database.begin = async (patienceS) => {
      late.database.begin = begin
      openJob(frozen, opening(slice, 'a/1', null)).catch(() => undefined)
      await inserted.promise
      return await begin(patienceS)
    }
    expect(await openJob(late, opening(slice, 'b/2', null))).toMatchObject({ fence: 1, outcome: 'opened' })
  })

  test('is killed, the take-over goes through, and its late write changes nothing', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    const frozen = db.connect()
    await frozen.begin()
    await frozen.rows('select id from job where id = ? for share', [job.id])
    const startedAt = performance.now()
    const newer = await openJob(run(), opening(slice, 'b/2', headOf(job)))
    expect(newer.fence).toBe(2)
    // Two seconds of patience, and what a busy machine adds; the server itself would end it after ten minutes.
    expect(performance.now() - startedAt).toBeLessThan(60_000)
    const late = frozen.change('insert into outbox (event_id, job_id, type, payload) values (uuid(), ?, ?, ?)', [
      job.id,
      'Late',
      '{}',
    ])
    await expect(late).rejects.toThrow()
    expect(await db.outside.rows(`select id from outbox where job_id = ? and type = 'Late'`, [job.id])).toEqual([])
    await frozen.rollback()
  })
})
