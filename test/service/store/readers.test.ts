import { describe, expect, test } from 'vitest'
import { monthDate, type Slice } from '../../../functions/contract/words.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { loadRows } from '../../support/rows.ts'
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
const setState = (id: number, state: string) => db.outside.change('update job set state = ? where id = ?', [state, id])

describe('a settlement program', () => {
  test('sees a slice in no state but REGISTERED, and learns which job is replacing it', async () => {
    const slice = await newSlice(db.outside)
    await loadRows(db.outside, slice, linesOf(0, 2))
    await expect(require(slice)).rejects.toThrow(`${slice.distributor} 2026-10 was never registered`)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    for (const state of ['DELETING', 'DELETED', 'REGISTERING']) {
      await setState(job.id, state)
      expect(await visible(slice)).toBe(0)
      await expect(require(slice)).rejects.toThrow(`is being replaced: job ${job.id} is ${state}`)
    }
    await setState(job.id, 'REGISTERED')
    expect(await visible(slice)).toBe(8)
    await require(slice)
  })

  test('sees each row once however often the slice was registered, and nothing while it is replaced again', async () => {
    const slice = await newSlice(db.outside)
    await loadRows(db.outside, slice, linesOf(0, 2))
    const first = await openJob(run(), opening(slice, 'a/1', null))
    await setState(first.id, 'REGISTERED')
    const second = await openJob(run(), opening(slice, 'b/2', headOf(first), { staged: stagedOf('b') }))
    expect(await visible(slice)).toBe(0)
    await setState(second.id, 'REGISTERED')
    expect(await visible(slice)).toBe(8)
  })

  test('reads a slice once, and its jobs apart from that, however often it was registered', async () => {
    const slice = await newSlice(db.outside)
    await loadRows(db.outside, slice, linesOf(0, 250))
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
    await setState(job.id, 'REGISTERED')
    for (let times = 2; times <= 6; times += 1) {
      job = await openJob(run(), opening(slice, `a/${times}`, headOf(job), { force: true }))
      await setState(job.id, 'REGISTERED')
    }
    expect(await readsOfAll()).toBeLessThan(1_000 + 250)
  })

  test('that writes a code in another case is told that this distributor was never registered', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await setState(job.id, 'REGISTERED')
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
    await setState(job.id, 'REGISTERED')
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
