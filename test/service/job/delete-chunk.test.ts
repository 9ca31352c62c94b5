import { describe, expect, test } from 'vitest'
import { CHUNK_ROWS_MAX } from '../../../functions/contract/limits.ts'
import type { Phase } from '../../../functions/contract/words.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { markDeleted, planDelete } from '../../../functions/job/transitions.ts'
import { progressOf } from '../../../functions/store/job/ledger.ts'
import { totalsOf } from '../../../functions/store/share-ratio.ts'
import { deleteAll } from '../../support/chunk-work.ts'
import { loadRows } from '../../support/rows.ts'
import { guarded, opening, testContext } from '../../support/test-context.ts'
import { linesOf, newSlice, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('chunks')
const run = () => testContext(db.connect())
const marks = (job: number, phase: Phase) => progressOf(db.outside, job, phase)

describe('deleting', () => {
  test('removes the slice to the last row and leaves both neighbours in the index alone', async () => {
    const before = await newSlice(db.outside)
    const slice = await newSlice(db.outside)
    const after = await newSlice(db.outside)
    for (const each of [before, slice, after]) await loadRows(db.outside, each, linesOf(0, 12_000))
    const job = await openJob(run(), opening(slice, 'a/1', null))
    const plan = await planDelete(run(), guarded(slice, job))
    expect(plan.chunks).toBe(Math.ceil(48_000 / CHUNK_ROWS_MAX))
    for (const item of plan.items) await deleteAll(run(), slice, job, item)
    expect(await markDeleted(run(), guarded(slice, job))).toMatchObject({ state: 'DELETED' })
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(0)
    for (const each of [before, after]) expect((await totalsOf(db.outside, { ...each, slot: 0 })).rows).toBe(48_000)
    expect(await marks(job.id, 'delete')).toMatchObject({ markedRows: 48_000 })
  })

  test('a second run of the same chunks deletes nothing and counts nothing twice', async () => {
    const slice = await newSlice(db.outside)
    await loadRows(db.outside, slice, linesOf(0, 100))
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await planDelete(run(), guarded(slice, job))
    expect(await deleteAll(run(), slice, job)).toMatchObject({ rows: 400 })
    expect(await deleteAll(run(), slice, job)).toEqual({ chunks: 0, rows: 0 })
    expect(await marks(job.id, 'delete')).toMatchObject({ markedRows: 400 })
  })

  test('DELETED is not set while a stranger leaves rows, and is set after another plan', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    expect(await planDelete(run(), guarded(slice, job))).toEqual({ chunks: 0, items: [] })
    await loadRows(db.outside, slice, linesOf(0, 3))
    await expect(markDeleted(run(), guarded(slice, job))).rejects.toMatchObject({ name: 'SliceNotEmpty' })
    await planDelete(run(), guarded(slice, job))
    await deleteAll(run(), slice, job)
    expect(await markDeleted(run(), guarded(slice, job))).toMatchObject({ state: 'DELETED' })
  })

  test('a stranger who never stops inserting ends the job by name after five plans', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    for (let plan = 1; plan <= 5; plan += 1) {
      await planDelete(run(), guarded(slice, job))
      await deleteAll(run(), slice, job)
      await loadRows(db.outside, slice, linesOf(plan * 10, 1))
    }
    await expect(markDeleted(run(), guarded(slice, job))).rejects.toMatchObject({ name: 'SliceKeepsFilling' })
  })

  test('DELETED waits for a chunk that is not marked', async () => {
    const slice = await newSlice(db.outside)
    await loadRows(db.outside, slice, linesOf(0, 3))
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await planDelete(run(), guarded(slice, job))
    await db.outside.change(`delete from share_ratio where distributor_id = ? and isrc > '' and isrc < '['`, [
      slice.distributorId,
    ])
    await expect(markDeleted(run(), guarded(slice, job))).rejects.toMatchObject({ name: 'SliceNotEmpty' })
  })
})
