import { afterAll, describe, expect, test, vi } from 'vitest'
import { lockKey } from '../../../functions/contract/words.ts'
import { haltFromCatch } from '../../../functions/job/halt-job.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { tryAcquire } from '../../../functions/store/lock/acquire.ts'
import { openLockClient } from '../../../functions/store/lock/client.ts'
import { countedBy, executionOf, headOf, opening, testContext } from '../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('halt')
const valkey = openLockClient(testContext(db.outside).env)

afterAll(async () => (await valkey).disconnect())

const run = async () => testContext(db.connect(), await valkey)
const away = () => testContext(db.connect(), { eval: () => Promise.reject(new Error('connection refused')) })

/** A job whose run holds its lock. */
const locked = async (token: string) => {
  const slice = await newSlice(db.outside)
  expect(await tryAcquire(await valkey, slice, token)).toBeNull()
  const job = await openJob(await run(), opening(slice, token, null))
  return { slice, job, holder: async () => (await valkey).get(lockKey(slice)) }
}

type Input = Parameters<typeof haltFromCatch>[1]

const failed = (slice: Input['slice'], job: Input['job'], token: string, change: Partial<Input> = {}): Input => ({
  execution: executionOf(token),
  slice,
  lock: { token, held: true },
  job,
  failure: { Error: 'ChunkMismatch', Cause: JSON.stringify({ errorMessage: 'chunk 3 differs' }) },
  ...change,
})

describe('a failed run that holds the lock', () => {
  test('halts its job and releases its lock', async () => {
    const { slice, job, holder } = await locked('a/1')
    const by = await run()
    const counted = countedBy(by)
    expect(await haltFromCatch(by, failed(slice, job, 'a/1'))).toEqual({ halted: true, job: job.id, released: true })
    expect(await holder()).toBeNull()
    expect(counted.map(([name]) => name)).toEqual(['job.halted', 'lock.hold.duration'])
  })

  test('releases its lock after its fence is raised, never before', async () => {
    const { slice, job } = await locked('a/1')
    const fences: (number | undefined)[] = []
    const watching = testContext(db.connect(), {
      eval: async (...args) => {
        fences.push((await readJob(db.outside, job.id))?.fence)
        return await (await valkey).eval(...args)
      },
    })
    await haltFromCatch(watching, failed(slice, job, 'a/1'))
    expect(fences).toEqual([job.fence + 1])
  })

  test('that was taken over halts nothing and leaves the lock of the other alone', async () => {
    const { slice, job, holder } = await locked('b/2')
    const by = await run()
    const counted = countedBy(by)
    expect(await haltFromCatch(by, failed(slice, { ...job, fence: 0 }, 'a/1'))).toEqual({
      halted: false,
      job: null,
      released: false,
    })
    expect(await holder()).toBe('b/2')
    expect(counted.map(([name]) => name)).toEqual([])
  })

  test('without a job releases its lock', async () => {
    const slice = await newSlice(db.outside)
    await tryAcquire(await valkey, slice, 'a/1')
    const report = await haltFromCatch(await run(), failed(slice, null, 'a/1'))
    expect(report).toEqual({ halted: false, job: null, released: true })
  })

  test('halts its job even where Valkey is away: the lock expires, and the report and the metrics say so', async () => {
    const { slice, job, holder } = await locked('a/1')
    const by = away()
    const counted = countedBy(by)
    const warned = vi.spyOn(by.logger, 'warn')
    const report = await haltFromCatch(by, failed(slice, job, 'a/1'))
    expect(report).toEqual({ halted: true, job: job.id, released: false })
    expect(counted.map(([name]) => name)).toContain('lock.unlock.failure')
    expect(warned.mock.calls[0]?.[1]).toMatchObject({ error: { name: 'LockUnreachable' } })
    expect(await holder()).toBe('a/1')
  })

  test('without a lock releases the key all the same that its lost AcquireLock had set', async () => {
    const { slice, job, holder } = await locked('a/1')
    const report = await haltFromCatch(await run(), failed(slice, job, 'a/1', { lock: { token: 'a/1', held: false } }))
    expect(report).toEqual({ halted: true, job: job.id, released: true })
    expect(await holder()).toBeNull()
  })

  test('without a lock does not count it as a failed release that Valkey is away', async () => {
    const { slice, job } = await locked('a/1')
    const by = away()
    const counted = countedBy(by)
    const report = await haltFromCatch(by, failed(slice, job, 'a/1', { lock: { token: 'a/1', held: false } }))
    expect(report).toEqual({ halted: true, job: job.id, released: false })
    expect(counted.map(([name]) => name)).not.toContain('lock.unlock.failure')
  })

  test('under a newer token, before it could open its job again, halts the job and fence it was given', async () => {
    const { slice, job } = await locked('a/1')
    const report = await haltFromCatch(await run(), failed(slice, job, 'a/2'))
    expect(report).toEqual({ halted: true, job: job.id, released: false })
  })

  test('is not mistaken for the run of another fence of the same job, nor of another job', async () => {
    const { slice, job } = await locked('a/1')
    const other = await openJob(await run(), opening(slice, 'b/2', headOf(job)))
    for (const stranger of [job, { ...other, id: other.id + 1_000 }, null])
      expect(await haltFromCatch(await run(), failed(slice, stranger, 'a/3'))).toMatchObject({ halted: false })
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: other.fence, halted_at: null })
  })
})

describe('a halt whose reply was lost', () => {
  test('is done once, and said to be done', async () => {
    const { slice, job } = await locked('a/1')
    const by = await run()
    const counted = countedBy(by)
    const { database } = by
    const commit = database.commit.bind(database)
    let commits = 0
    database.commit = async () => {
      await commit()
      commits += 1
      if (commits === 1) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    }
    expect(await haltFromCatch(by, failed(slice, job, 'a/1'))).toEqual({ halted: true, job: job.id, released: true })
    expect(commits).toBe(2)
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: job.fence + 1, halt_error: 'ChunkMismatch' })
    expect(await db.outside.rows('select type from outbox where job_id = ?', [job.id])).toHaveLength(1)
    expect(counted.filter(([name]) => name === 'job.halted')).toHaveLength(1)
  })

  test("is nobody else's: a run that took over in between is left alone", async () => {
    const { slice, job } = await locked('a/1')
    const by = await run()
    const { database } = by
    const commit = database.commit.bind(database)
    let other: Awaited<ReturnType<typeof openJob>> | undefined
    database.commit = async () => {
      await commit()
      if (other !== undefined) return
      other = await openJob(await run(), opening(slice, 'b/2', { job: job.id, fence: job.fence + 1 }))
      throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    }
    await haltFromCatch(by, failed(slice, job, 'a/1', { lock: { token: 'a/1', held: false } }))
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: other?.fence, halted_at: null, lock_token: 'b/2' })
  })
})

describe('two runs with one job number and one fence, as after a restore', () => {
  /** The row is B's; A was given the same numbers before the database went back. */
  const restored = async (state: string) => {
    const slice = await newSlice(db.outside)
    const job = await openJob(await run(), opening(slice, 'b/1', null))
    await db.outside.change('update job set state = ? where id = ?', [state, job.id])
    return { slice, job }
  }

  test("A's halt leaves B's live job alone, whichever of A's tokens it brings", async () => {
    const { slice, job } = await restored('REGISTERING')
    for (const token of ['a/1', 'a/2'])
      expect(await haltFromCatch(await run(), failed(slice, job, token))).toMatchObject({ halted: false, job: null })
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: job.fence, halted_at: null, lock_token: 'b/1' })
  })

  test("A does not come back into B's job, open or REGISTERED", async () => {
    for (const state of ['REGISTERING', 'REGISTERED']) {
      const { slice, job } = await restored(state)
      const back = openJob(await run(), opening(slice, 'a/2', headOf(job), { own: job }))
      await expect(back).rejects.toMatchObject({ name: 'Superseded', job: job.id })
      expect(await readJob(db.outside, job.id)).toMatchObject({ fence: job.fence, lock_token: 'b/1', state })
    }
  })
})
