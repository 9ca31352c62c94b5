import { describe, expect, test } from 'vitest'
import { monthDate, type Slice } from '../../../functions/contract/words.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { loadRows, showJob } from '../../support/rows.ts'
import { headOf, opening, stagedOf, testContext } from '../../support/test-context.ts'
import { linesOf, newSlice, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('readers')
const run = () => testContext(db.connect())

const visible = async (slice: Slice): Promise<number> => {
  const [row] = await db.outside.rows<{ count: number }>(
    'select count(*) as count from settled_share_ratio where distributor = ? and settlement_month = ?',
    [slice.distributor, monthDate(slice.month)],
  )
  return row?.count ?? 0
}
const require = (slice: Slice) => db.outside.rows('call require_settled_slice(?, ?)', [slice.distributor, slice.month])
const statusOf = async (slice: Slice): Promise<string | undefined> => {
  const [row] = await db.outside.rows<{ status: string }>(
    'select status from slice_status where distributor = ? and settlement_month = ?',
    [slice.distributor, monthDate(slice.month)],
  )
  return row?.status
}
const setState = (id: number, state: string) => db.outside.change('update job set state = ? where id = ?', [state, id])

/** A slice whose first job is REGISTERED with eight rows, and what it is registered by. */
const settled = async () => {
  const slice = await newSlice(db.outside)
  const first = await openJob(run(), opening(slice, 'a/1', null))
  await loadRows(db.outside, slice, linesOf(0, 2))
  await showJob(db.outside, first.id)
  return { slice, first }
}
const inPlace = (slice: Slice) =>
  db.outside.change(`update distributor set replace_mode = 'in-place' where id = ?`, [slice.distributorId])

describe('a settlement program', () => {
  test('sees a first set in no state but REGISTERED, and learns which job registers it', async () => {
    const slice = await newSlice(db.outside)
    await expect(require(slice)).rejects.toThrow(`${slice.distributor} 2026-10 was never registered`)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await loadRows(db.outside, slice, linesOf(0, 2))
    for (const state of ['DELETING', 'DELETED', 'REGISTERING']) {
      await setState(job.id, state)
      expect(await visible(slice)).toBe(0)
      await expect(require(slice)).rejects.toThrow(`is being replaced: job ${job.id} is ${state}`)
    }
    await showJob(db.outside, job.id)
    expect(await visible(slice)).toBe(8)
    await require(slice)
    expect(await statusOf(slice)).toBe('settled')
  })

  test('sees the old set in every state of a replacement, and after its halt', async () => {
    const { slice, first } = await settled()
    const second = await openJob(run(), opening(slice, 'b/2', headOf(first), { staged: stagedOf('b') }))
    await loadRows(db.outside, { ...slice, slot: 1 }, linesOf(0, 1))
    for (const state of ['DELETING', 'DELETED', 'REGISTERING']) {
      await setState(second.id, state)
      expect(await visible(slice)).toBe(8)
      await require(slice)
      expect(await statusOf(slice)).toBe('settled, a new set is being registered')
    }
    await db.outside.change('update job set halted_at = current_timestamp(6) where id = ?', [second.id])
    expect(await statusOf(slice)).toBe(`halted, the set of job ${first.id} is read`)
    expect(await visible(slice)).toBe(8)
    await showJob(db.outside, second.id)
    expect(await visible(slice)).toBe(4)
  })

  test('sees nothing while a set is replaced in place, and is told', async () => {
    const { slice, first } = await settled()
    await inPlace(slice)
    const second = await openJob(run(), opening(slice, 'b/2', headOf(first), { staged: stagedOf('b') }))
    for (const state of ['DELETING', 'DELETED', 'REGISTERING']) {
      await setState(second.id, state)
      expect(await visible(slice)).toBe(0)
      expect(await statusOf(slice)).toBe('being replaced')
      await expect(require(slice)).rejects.toThrow(`is being replaced: job ${second.id} is ${state}`)
    }
    await showJob(db.outside, second.id)
    expect(await visible(slice)).toBe(8)
  })

  test('reads a slice once, and its jobs apart from that, however often it was registered', async () => {
    const slice = await newSlice(db.outside)
    await inPlace(slice)
    const reader = db.connect()
    const readsOfAll = async (): Promise<number> => {
      await reader.change('flush status')
      await reader.rows('select share from settled_share_ratio where distributor = ? and settlement_month = ?', [
        slice.distributor,
        monthDate(slice.month),
      ])
      const counts = await reader.rows<{ Value: string }>(`show session status like 'Handler\\_read\\_%'`)
      return counts.reduce((sum, { Value }) => sum + Number(Value), 0)
    }
    let job = await openJob(run(), opening(slice, 'a/1', null))
    await loadRows(db.outside, slice, linesOf(0, 250))
    await showJob(db.outside, job.id)
    for (let times = 2; times <= 6; times += 1) {
      job = await openJob(run(), opening(slice, `a/${times}`, headOf(job), { force: true }))
      await showJob(db.outside, job.id)
    }
    expect(await readsOfAll()).toBeLessThan(1_000 + 250)
  })

  test('that writes a code in another case is told that this distributor was never registered', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await showJob(db.outside, job.id)
    const other = { ...slice, distributor: slice.distributor.toLowerCase() }
    await expect(require(other)).rejects.toThrow(`${other.distributor} 2026-10 was never registered`)
  })

  test('is told that a slice is halted', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await db.outside.change('update job set halted_at = current_timestamp(6) where id = ?', [job.id])
    await expect(require(slice)).rejects.toThrow(`is halted: job ${job.id} is DELETING`)
  })

  test('reads one track of a slice by key, not by scanning the slice', async () => {
    const slice = await newSlice(db.outside)
    await loadRows(db.outside, slice, linesOf(0, 1_000))
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await showJob(db.outside, job.id)
    const reader = db.connect()
    await reader.change('flush status')
    const rows = await reader.rows(
      `select share from settled_share_ratio where distributor = ? and settlement_month = ? and isrc = 'KRA000000500'`,
      [slice.distributor, monthDate(slice.month)],
    )
    expect(rows).toHaveLength(4)
    const [read] = await reader.rows<{ count: string }>(
      `select sum(variable_value) as count from performance_schema.session_status where variable_name like 'Handler_read%'`,
    )
    // Four rows, their job and its absent successors, and the counting itself; the slice has 4,000 rows.
    expect(Number(read?.count)).toBeLessThan(400)
  })
})
