import { describe, expect, test } from 'vitest'
import type { Slice } from '../../functions/contract/words.ts'
import { openJob } from '../../functions/job/open-job.ts'
import { closeJob, haltJob, heldMs, knowsSource, readJob, registeredBeforeNewest } from '../../functions/store/job.ts'
import { newSlice, useTestDatabase } from '../support/test-database.ts'
import { opening, stagedOf, testRun } from '../support/test-run.ts'

const db = useTestDatabase('history')
const run = () => testRun(db.connect())

/** A job of the source `letter` that ends as REGISTERED, is closed, or stays open. */
const add = async (slice: Slice, letter: string, head: number | null, end: 'REGISTERED' | 'closed' | 'open') => {
  const from = head === null ? null : { job: head, fence: (await readJob(db.outside, head))?.fence ?? 0 }
  const job = await openJob(run(), opening(slice, `${letter}/${head}`, from, { staged: stagedOf(letter) }))
  if (end === 'REGISTERED') await db.outside.change(`update job set state = 'REGISTERED' where id = ?`, [job.id])
  const row = await readJob(db.outside, job.id)
  if (end === 'closed' && row !== undefined) await closeJob(db.outside, row)
  return job.id
}

describe('what an undo registers again', () => {
  test('is the last REGISTERED job before the newest, whatever the newest is', async () => {
    const slice = await newSlice(db.outside)
    expect(await registeredBeforeNewest(db.outside, slice)).toBeUndefined()
    const first = await add(slice, 'a', null, 'REGISTERED')
    expect(await registeredBeforeNewest(db.outside, slice)).toBeUndefined()
    const second = await add(slice, 'b', first, 'REGISTERED')
    expect((await registeredBeforeNewest(db.outside, slice))?.id).toBe(first)
    const third = await add(slice, 'c', second, 'closed')
    expect((await registeredBeforeNewest(db.outside, slice))?.id).toBe(second)
    await add(slice, 'd', third, 'open')
    expect(await registeredBeforeNewest(db.outside, slice)).toMatchObject({ id: second, source_digest: 'b'.repeat(64) })
  })

  test('is never a job of another month or another distributor', async () => {
    const slice = await newSlice(db.outside)
    const other = await newSlice(db.outside)
    for (const each of [{ ...slice, month: '2026-09' }, other])
      await add(each, 'b', await add(each, 'a', null, 'REGISTERED'), 'REGISTERED')
    await add(slice, 'c', null, 'open')
    expect(await registeredBeforeNewest(db.outside, slice)).toBeUndefined()
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
    expect(await closeJob(db.outside, stale)).toBe(false)
    expect(await haltJob(db.outside, stale, 'Error', 'cause')).toBe(false)
    expect(await haltJob(db.outside, row, 'Error', 'cause')).toBe(true)
    expect(await closeJob(db.outside, stale)).toBe(true)
    expect(await haltJob(db.outside, { id, fence: row.fence + 2 }, 'Error', 'cause')).toBe(false)
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
