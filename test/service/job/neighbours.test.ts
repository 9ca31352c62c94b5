import { describe, expect, test } from 'vitest'
import { openJob } from '../../../functions/job/open-job.ts'
import { markDeleted, planDelete } from '../../../functions/job/transitions.ts'
import { acquisitionOf, guardShared } from '../../../functions/store/job/guard.ts'
import { deleteRange, isSlotEmpty, totalsOf } from '../../../functions/store/share-ratio.ts'
import { deleteAll, EVERYTHING, registerAll } from '../../support/chunk-work.ts'
import { loadRows, planChunks } from '../../support/rows.ts'
import { guarded, opening, stagedOf, testContext } from '../../support/test-context.ts'
import { linesOf, newSlice, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('neighbours')
const run = () => testContext(db.connect())

describe('slices that touch in the index', () => {
  test("the slice with the table's highest key is deleted, and a chunk rerun after its lost reply counts once", async () => {
    const slice = await newSlice(db.outside)
    await loadRows(db.outside, slice, linesOf(0, 8_000))
    const job = await openJob(run(), opening(slice, 'a/1', null))
    const plan = await planDelete(run(), guarded(slice, job))
    expect(plan.chunks).toBe(3)
    await deleteAll(run(), slice, job, { from: 2, to: 2 })
    await deleteAll(run(), slice, job, { from: 2, to: 2 })
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(30_000)
    await deleteAll(run(), slice, job)
    expect(await markDeleted(run(), guarded(slice, job))).toMatchObject({ state: 'DELETED' })
    const [row] = await db.outside.rows<{ rows: string }>(
      'select sum(row_count) as `rows` from job_chunk where job_id = ? and marked_at is not null',
      [job.id],
    )
    expect(Number(row?.rows)).toBe(32_000)
  })

  test('one distributor deletes its tail while the next loads its head, and both finish', async () => {
    const [lower, upper] = [await newSlice(db.outside), await newSlice(db.outside)]
    await loadRows(db.outside, lower, linesOf(0, 10_000))
    const [deleting, loading] = [run(), run()]
    const old = await openJob(deleting, opening(lower, 'a/1', null))
    await planDelete(deleting, guarded(lower, old))
    const staged = stagedOf('a', 80_000, '2000000.000000')
    const fresh = await openJob(loading, opening(upper, 'b/2', null, { staged }))
    await db.outside.change(`update job set state = 'REGISTERING' where id = ?`, [fresh.id])
    const bodies = Array.from({ length: 20 }, (_, index) => linesOf(index * 1_000, 1_000))
    const chunk = { rows: 4_000, bytes: 1, digest: 'a'.repeat(64), firstIsrc: 'A', lastIsrc: 'B' }
    await planChunks(
      db.outside,
      fresh.id,
      bodies.map((_, number) => ({ ...chunk, number })),
    )
    await Promise.all([
      deleteAll(deleting, lower, old),
      registerAll(loading, { ...guarded(upper, fresh, 'b/2'), item: EVERYTHING }, bodies),
    ])
    expect((await totalsOf(db.outside, { ...lower, slot: 0 })).rows).toBe(0)
    expect((await totalsOf(db.outside, { ...upper, slot: 0 })).rows).toBe(80_000)
  })

  test('the last range of a slice, and the look whether it is empty, touch no row of the next one', async () => {
    const [lower, upper] = [await newSlice(db.outside), await newSlice(db.outside)]
    await loadRows(db.outside, lower, linesOf(0, 100))
    const writing = db.connect()
    await writing.begin()
    await loadRows(writing, upper, linesOf(0, 100))
    const job = await openJob(run(), opening(lower, 'a/1', null))
    const deleting = db.connect(8_000)
    const tx = await guardShared(await deleting.begin(), acquisitionOf(guarded(lower, job)), 'DELETING')
    const range = { number: 0, from_isrc: '', before_isrc: null, object_digest: null, row_count: 400 }
    expect(await deleteRange(tx, range)).toBe(400)
    expect(await isSlotEmpty(tx)).toBe(true)
    expect(await deleteRange(tx, range)).toBe(0)
    const locked = await deleting.rows<{ row: string }>(
      `select distinct substring_index(lock_data, ',', 1) as \`row\` from performance_schema.data_locks l
       join performance_schema.threads t on t.thread_id = l.thread_id
       where t.processlist_id = connection_id() and l.lock_type = 'RECORD' and l.object_name = 'share_ratio'`,
    )
    expect(locked).toEqual([{ row: String(lower.distributorId) }])
    await Promise.all([deleting.rollback(), writing.rollback()])
  })

  test('a track larger than a chunk, written by a stranger, is planned and deleted as one', async () => {
    const slice = await newSlice(db.outside)
    const lines = Array.from({ length: 25_000 }, (_, party) => `KRA000000005\tPERFORMANCE\tP${party}\t0.000100\n`)
    await loadRows(db.outside, slice, Buffer.concat([linesOf(0, 5), Buffer.from(lines.join('')), linesOf(6, 5)]))
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await planDelete(run(), guarded(slice, job))
    await deleteAll(run(), slice, job)
    expect(await markDeleted(run(), guarded(slice, job))).toMatchObject({ state: 'DELETED' })
  })
})
