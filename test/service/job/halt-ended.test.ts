import { afterAll, describe, expect, test } from 'vitest'
import { lockKey } from '../../../functions/contract/words.ts'
import { haltFromCatch, haltFromStatusEvent } from '../../../functions/job/halt-job.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { tryAcquire } from '../../../functions/store/lock/acquire.ts'
import { openLockClient } from '../../../functions/store/lock/client.ts'
import {
  countedBy,
  endOf,
  executionOf,
  headOf,
  LIFE,
  opening,
  type TestContext,
  testContext,
} from '../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('halt')
const valkey = openLockClient(testContext(db.outside).env)

afterAll(async () => (await valkey).disconnect())

const run = async () => testContext(db.connect(), await valkey)

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

describe('an execution that ended without its Catch', () => {
  test('has its job halted and its lock released, by the token in the row', async () => {
    const { job, holder } = await locked('event/1')
    const report = await haltFromStatusEvent(await run(), endOf('event/1'))
    expect(report).toEqual({ halted: true, job: job.id, released: true })
    expect(await holder()).toBeNull()
    const row = await readJob(db.outside, job.id)
    expect(row).toMatchObject({ halt_error: 'ExecutionABORTED', fence: 2, lock_token: null })
  })

  test('that opened no job, or whose job was halted already, is nobody to halt', async () => {
    const nobody = { halted: false, job: null, released: false }
    expect(await haltFromStatusEvent(await run(), endOf('nobody/1'))).toEqual(nobody)
    const { slice, job } = await locked('twice/1')
    await haltFromCatch(await run(), failed(slice, job, 'twice/1', { lock: { token: 'twice/1', held: false } }))
    expect(await haltFromStatusEvent(await run(), endOf('twice/1'))).toEqual(nobody)
  })

  test('and lost its lock to another run has its job halted and the other lock left alone', async () => {
    const { slice, job, holder } = await locked('lost/1')
    await (await valkey).del(lockKey(slice))
    await tryAcquire(await valkey, slice, 'other/2')
    const report = await haltFromStatusEvent(await run(), endOf('lost/1'))
    expect(report).toEqual({ halted: true, job: job.id, released: false })
    expect(await holder()).toBe('other/2')
  })

  test('after REGISTERED has its lock released and its job left alone', async () => {
    const { job, holder } = await locked('done/1')
    await db.outside.change(`update job set state = 'REGISTERED' where id = ?`, [job.id])
    const report = await haltFromStatusEvent(await run(), endOf('done/1'))
    expect(report).toEqual({ halted: false, job: null, released: true })
    expect(await holder()).toBeNull()
    expect(await readJob(db.outside, job.id)).toMatchObject({ state: 'REGISTERED', halted_at: null, fence: job.fence })
  })

  /** Does `what` right before the transaction of that number. */
  const doBefore = (by: TestContext, number: number, what: () => Promise<unknown>): void => {
    const { database } = by
    const begin = database.begin.bind(database)
    let begun = 0
    database.begin = async (patienceS) => {
      begun += 1
      if (begun === number) await what()
      return await begin(patienceS)
    }
  }

  test.each([
    ['its end is written', 1],
    ['its job is halted', 2],
  ])('and was taken over right before %s halts nothing', async (_, number) => {
    const { slice, job } = await locked(`race-${number}/1`)
    const by = await run()
    doBefore(by, number, async () => await openJob(await run(), opening(slice, 'other/2', headOf(job))))
    const counted = countedBy(by)
    expect(await haltFromStatusEvent(by, endOf(`race-${number}/1`))).toMatchObject({ halted: false, job: null })
    expect(counted.map(([name]) => name)).not.toContain('job.halted')
    expect(await readJob(db.outside, job.id)).toMatchObject({ lock_token: 'other/2', halted_at: null })
  })

  test('and had opened its job again after LockLost has it halted', async () => {
    const { slice, job } = await locked('again/1')
    const by = await run()
    doBefore(by, 1, async () => await openJob(await run(), opening(slice, 'again/2', headOf(job), { own: job })))
    expect(await haltFromStatusEvent(by, endOf('again/1'))).toMatchObject({ halted: true, job: job.id })
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: 3, lock_token: null })
  })
})

describe('an end that is told late or twice', () => {
  test('leaves a later run of the same name alone, and its lock', async () => {
    const slice = await newSlice(db.outside)
    await tryAcquire(await valkey, slice, 'name/2')
    const later = { ...opening(slice, 'name/2', null), life: { startedAt: '2026-12-30T00:00:00.000Z', redrives: 0 } }
    const job = await openJob(await run(), later)
    const nobody = { halted: false, job: null, released: false }
    expect(await haltFromStatusEvent(await run(), endOf('name/1'))).toEqual(nobody)
    expect(await (await valkey).get(lockKey(slice))).toBe('name/2')
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: job.fence, halted_at: null })
    const own = endOf('name/2', { startedAt: later.life.startedAt })
    expect(await haltFromStatusEvent(await run(), own)).toMatchObject({ halted: true, released: true })
  })

  test('leaves the same execution alone that was redriven since, and that one has an end of its own', async () => {
    const slice = await newSlice(db.outside)
    const redriven = { ...opening(slice, 'redriven/1', null), life: { ...LIFE, redrives: 1 } }
    const job = await openJob(await run(), redriven)
    expect(await haltFromStatusEvent(await run(), endOf('redriven/1'))).toMatchObject({ halted: false })
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: job.fence, halted_at: null })
    const end = endOf('redriven/1', { redriveCount: 1 })
    expect(await haltFromStatusEvent(await run(), end)).toMatchObject({ halted: true, job: job.id })
  })

  test('that says nothing of redrives is taken for the last one', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(await run(), { ...opening(slice, 'old-kind/1', null), life: { ...LIFE, redrives: 1 } })
    const { redriveCount: _, ...detail } = endOf('old-kind/1').detail
    expect(await haltFromStatusEvent(await run(), { ...endOf('old-kind/1'), detail })).toMatchObject({ job: job.id })
  })

  test('is judged by no clock of ours: the database may be an hour ahead or behind', async () => {
    for (const hours of [-1, 1]) {
      const token = `clock${hours}/1`
      const { job } = await locked(token)
      await db.outside.change('update job set opened_at = opened_at + interval ? hour where id = ?', [hours, job.id])
      expect(await haltFromStatusEvent(await run(), endOf(token))).toMatchObject({ halted: true, job: job.id })
    }
  })
})
