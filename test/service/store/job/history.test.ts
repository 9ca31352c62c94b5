import { describe, expect, test } from 'vitest'
import type { Slice } from '../../../../functions/contract/words.ts'
import { openJob } from '../../../../functions/job/open-job.ts'
import { closeJob, markHalted } from '../../../../functions/store/job/fence.ts'
import { heldMs, type JobRow, knowsSource, newestJob, readJob } from '../../../../functions/store/job/row.ts'
import { undoTarget } from '../../../../functions/store/job/undo-target.ts'
import { transaction } from '../../../../functions/store/mysql/transaction.ts'
import { opening, stagedOf, testContext } from '../../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../../support/test-database.ts'

const db = useTestDatabase('history')
const run = () => testContext(db.connect())

/** A job of the source `letter` that ends as REGISTERED, is closed, or stays open. */
const add = async (slice: Slice, letter: string, head: number | null, end: 'REGISTERED' | 'closed' | 'open') => {
  const from = head === null ? null : { job: head, fence: (await readJob(db.outside, head))?.fence ?? 0 }
  const job = await openJob(run(), opening(slice, `${letter}/${head}`, from, { staged: stagedOf(letter), force: true }))
  if (end === 'REGISTERED') await db.outside.change(`update job set state = 'REGISTERED' where id = ?`, [job.id])
  const row = await readJob(db.outside, job.id)
  if (end === 'closed' && row !== undefined) await transaction(db.outside, (tx) => closeJob(tx, row))
  return job.id
}

describe('what an undo registers again', () => {
  const letterOf = async (slice: Slice) => (await undoTarget(db.outside, slice))?.source_digest[0]

  test('is the last REGISTERED set before the newest job', async () => {
    const slice = await newSlice(db.outside)
    expect(await undoTarget(db.outside, slice)).toBeUndefined()
    const first = await add(slice, 'a', null, 'REGISTERED')
    expect(await undoTarget(db.outside, slice)).toBeUndefined()
    const second = await add(slice, 'b', first, 'REGISTERED')
    expect((await undoTarget(db.outside, slice))?.id).toBe(first)
    const third = await add(slice, 'c', second, 'closed')
    expect((await undoTarget(db.outside, slice))?.id).toBe(second)
    await add(slice, 'd', third, 'open')
    expect(await undoTarget(db.outside, slice)).toMatchObject({ id: second, source_digest: 'b'.repeat(64) })
  })

  test('differs from the set that is registered now, however often that was registered again', async () => {
    const slice = await newSlice(db.outside)
    const first = await add(slice, 'a', null, 'REGISTERED')
    expect(await letterOf(slice)).toBeUndefined()
    const again = await add(slice, 'a', first, 'REGISTERED')
    expect(await letterOf(slice)).toBeUndefined()
    const second = await add(slice, 'b', again, 'REGISTERED')
    const third = await add(slice, 'b', second, 'REGISTERED')
    expect(await letterOf(slice)).toBe('a')
    // What is being replaced is the set to go back to, even by itself.
    await add(slice, 'b', third, 'open')
    expect(await letterOf(slice)).toBe('b')
  })

  test("is an open undo's own set", async () => {
    const slice = await newSlice(db.outside)
    const second = await add(slice, 'b', await add(slice, 'a', null, 'REGISTERED'), 'REGISTERED')
    const id = await add(slice, 'a', second, 'open')
    expect(await letterOf(slice)).toBe('b')
    await db.outside.change('update job set is_undo = 1 where id = ?', [id])
    expect(await letterOf(slice)).toBe('a')
  })

  test('is never a job of another month or another distributor', async () => {
    const slice = await newSlice(db.outside)
    const other = await newSlice(db.outside)
    for (const each of [{ ...slice, month: '2026-09' }, other])
      await add(each, 'b', await add(each, 'a', null, 'REGISTERED'), 'REGISTERED')
    await add(slice, 'c', null, 'open')
    expect(await undoTarget(db.outside, slice)).toBeUndefined()
  })
})

describe('an undo whose set was staged', () => {
  /** A and B are registered, and an undo to A is staged. */
  const begun = async () => {
    const slice = await newSlice(db.outside)
    const first = await add(slice, 'a', null, 'REGISTERED')
    return { slice, second: await add(slice, 'b', first, 'REGISTERED') }
  }
  const open = async (slice: Slice, letter: string) => {
    const { id, fence } = (await newestJob(db.outside, slice)) as JobRow
    const input = opening(slice, 'undo/9', { job: id, fence }, { staged: stagedOf(letter), supersede: true })
    return await openJob(run(), { ...input, request: { ...input.request, source: { undo: true } } })
  }

  test('is opened where it is still the one to go back to', async () => {
    const { slice } = await begun()
    const { id } = await open(slice, 'a')
    expect(await readJob(db.outside, id)).toMatchObject({ is_undo: 1, source_digest: 'a'.repeat(64) })
  })

  test.each(['REGISTERED', 'open'] as const)('is refused by name where another job is %s since', async (end) => {
    const { slice, second } = await begun()
    const third = await add(slice, 'c', second, end)
    await expect(open(slice, 'a')).rejects.toMatchObject({ name: 'PlanMoved' })
    await expect(open(slice, 'a')).rejects.toThrow(
      `it would go back to the staged source ${'b'.repeat(64)} of job ${second}`,
    )
    expect(await newestJob(db.outside, slice)).toMatchObject({ id: third, closed_at: null, fence: 3 })
  })

  test('is refused where somebody else has gone back already', async () => {
    const { slice, second } = await begun()
    await add(slice, 'a', second, 'REGISTERED')
    await expect(open(slice, 'a')).rejects.toMatchObject({ name: 'PlanMoved' })
  })

  test('goes on with its own job after a lost reply', async () => {
    const { slice } = await begun()
    const { id } = await open(slice, 'a')
    await db.outside.change(`update job set lock_token = 'undo/8' where id = ?`, [id])
    expect(await open(slice, 'a')).toMatchObject({ id, outcome: 'taken over' })
  })
})

test('a staged source is known to the distributor that had it, in any month, and to no other', async () => {
  const slice = await newSlice(db.outside)
  const other = await newSlice(db.outside)
  await add({ ...slice, month: '2026-01' }, 'e', null, 'closed')
  const digest = 'e'.repeat(64)
  expect(await knowsSource(db.outside, slice.distributorId, digest)).toBe(true)
  expect(await knowsSource(db.outside, slice.distributorId, 'f'.repeat(64))).toBe(false)
  expect(await knowsSource(db.outside, other.distributorId, digest)).toBe(false)
})

describe('closing and halting', () => {
  test('change a job only under the fence that was read, and only while it is open', async () => {
    const slice = await newSlice(db.outside)
    const id = await add(slice, 'a', null, 'open')
    const row = await readJob(db.outside, id)
    if (row === undefined) throw new Error('no job')
    const stale = { ...row, fence: row.fence + 1 }
    const close = (job: JobRow) => transaction(db.outside, (tx) => closeJob(tx, job))
    const halt = (job: JobRow) => transaction(db.outside, (tx) => markHalted(tx, job, 'Error', 'cause'))
    expect(await close(stale)).toBe('moved on')
    expect(await halt(stale)).toBe('moved on')
    expect(await halt(row)).toEqual({ fence: row.fence + 1 })
    expect(await close(stale)).toBe('moved on')
    expect(await close({ ...stale, lock_token: null })).toEqual({ fence: row.fence + 2 })
    expect(await halt({ ...row, fence: row.fence + 2, lock_token: null })).toBe('moved on')
    expect(await readJob(db.outside, id)).toMatchObject({ fence: row.fence + 2, closed_at: expect.any(String) })
  })

  test('come some time after opening, in milliseconds; a job that is not there was never held', async () => {
    const slice = await newSlice(db.outside)
    const id = await add(slice, 'a', null, 'open')
    await db.outside.change('update job set opened_at = current_timestamp(6) - interval 90 second where id = ?', [id])
    const ms = await heldMs(db.outside, id)
    expect(ms).toBeGreaterThanOrEqual(90_000)
    expect(ms).toBeLessThan(600_000)
    expect(await heldMs(db.outside, 0)).toBe(0)
  })
})

test('a job is read with every column of its table but those that name its slice', async () => {
  const slice = await newSlice(db.outside)
  await add(slice, 'a', null, 'open')
  const job = await newestJob(db.outside, slice)
  const columns = await db.outside.rows<{ name: string }>(
    `select column_name as name from information_schema.columns where table_schema = database() and table_name = 'job'`,
  )
  const ofSlice = ['distributor_id', 'settlement_month', 'open_slice']
  const names = columns.map(({ name }) => name).filter((name) => !ofSlice.includes(name))
  const { distributorId, month, ...row } = job ?? {}
  expect({ distributorId, month }).toEqual({ distributorId: slice.distributorId, month: slice.month })
  expect(Object.keys(row).sort()).toEqual(names.sort())
})
