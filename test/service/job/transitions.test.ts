import { describe, expect, test } from 'vitest'
import { openJob } from '../../../functions/job/open-job.ts'
import { beginRegistering, markDeleted, planDelete } from '../../../functions/job/transitions.ts'
import { progressOf, unmarkedChunks } from '../../../functions/store/job/ledger.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { deleteAll, registerAll } from '../../support/chunk-work.ts'
import { loadRows, planChunks } from '../../support/rows.ts'
import { useStagedJobs } from '../../support/staged-jobs.ts'
import { guarded, headOf, opening } from '../../support/test-context.ts'
import { linesOf, newSlice } from '../../support/test-database.ts'

const { db, run, setState, stateOf, deleted } = useStagedJobs('transitions')

describe('beginning to register', () => {
  test("writes the manifest's chunks into the ledger, and said again only names what is left", async () => {
    const { input, job, manifest, body } = await deleted('b', 3)
    expect(await beginRegistering(run(), input)).toEqual({ chunks: 3, items: [{ from: 0, to: 2 }] })
    expect(await stateOf(job.id)).toBe('REGISTERING')
    const ledger = await unmarkedChunks(db.outside, job.id, 'register')
    expect(ledger).toEqual(
      manifest.chunks.map(({ number, firstIsrc, digest }) => ({
        number,
        from_isrc: firstIsrc,
        before_isrc: null,
        object_digest: digest,
        row_count: 8,
      })),
    )
    await registerAll(run(), { ...input, item: { from: 0, to: 0 } }, [body(0)])
    expect(await beginRegistering(run(), input)).toEqual({ chunks: 2, items: [{ from: 1, to: 2 }] })
    expect(await progressOf(db.outside, job.id, 'register')).toEqual({ chunks: 3, marked: 1, rows: 24, markedRows: 8 })
  })

  test.each(['DELETING', 'REGISTERED'])('is refused in %s', async (state) => {
    const { input, job } = await deleted('c', 1)
    await setState(job.id, state)
    await expect(beginRegistering(run(), input)).rejects.toMatchObject({ name: 'StaleFence' })
    expect(await progressOf(db.outside, job.id, 'register')).toMatchObject({ chunks: 0 })
  })

  test('by a run that was taken over is refused, saying which run goes on', async () => {
    const { input, slice, job, message } = await deleted('d', 1)
    await openJob(run(), opening(slice, 'b/2', headOf(job), { staged: message }))
    const refused = beginRegistering(run(), input)
    await expect(refused).rejects.toMatchObject({ name: 'StaleFence', job: job.id, fence: 1, state: 'DELETED' })
    await expect(refused).rejects.toThrow('DELETED under fence 2. Nothing was written; look at the run arn:execution:b')
  })

  test.each(['halted', 'closed'])('by a run whose job was %s is refused, and sent to the newest job', async (what) => {
    const { input, job } = await deleted(what === 'halted' ? '6' : '5', 1)
    await db.outside.change(`update job set ${what}_at = current_timestamp(6), fence = 2 where id = ?`, [job.id])
    await expect(beginRegistering(run(), input)).rejects.toThrow(
      `The job was ${what}: this run holds fence 1 and expects DELETED, the job is DELETED under fence 2. Nothing was written; look at the newest job of the slice.`,
    )
  })

  test('keeps more chunks than one statement takes', async () => {
    const { job } = await deleted('e', 1)
    const chunk = { rows: 1, bytes: 1, digest: 'f'.repeat(64), firstIsrc: 'KRA000000000', lastIsrc: 'KRA000000000' }
    await planChunks(
      db.outside,
      job.id,
      Array.from({ length: 2_001 }, (_, number) => ({ ...chunk, number })),
    )
    expect(await progressOf(db.outside, job.id, 'register')).toMatchObject({ chunks: 2_001, rows: 2_001 })
  })
})

describe('DELETED', () => {
  test('is answered again to a repetition, and refused once the job has moved on', async () => {
    const { input, job, slice } = await deleted('1', 1)
    expect(await markDeleted(run(), input)).toEqual({ ...job, state: 'DELETED' })
    // What a stranger writes from here on is MarkRegistered's to find.
    await loadRows(db.outside, slice, linesOf(0, 1))
    expect(await markDeleted(run(), input)).toEqual({ ...job, state: 'DELETED' })
    await setState(job.id, 'REGISTERING')
    await expect(markDeleted(run(), input)).rejects.toMatchObject({ name: 'StaleFence' })
  })
})

describe('a delete plan', () => {
  test('made again replaces only what is not deleted yet, under new numbers', async () => {
    const slice = await newSlice(db.outside)
    await loadRows(db.outside, slice, linesOf(0, 8_000))
    const job = await openJob(run(), opening(slice, 'a/1', null))
    const input = guarded(slice, job)
    expect(await planDelete(run(), input)).toEqual({ chunks: 3, items: [{ from: 0, to: 2 }] })
    const counts = (await unmarkedChunks(db.outside, job.id, 'delete')).map((chunk) => chunk.row_count)
    expect(counts).toEqual([15_000, 15_000, 2_000])
    await deleteAll(run(), slice, job, { from: 1, to: 1 })
    expect(await planDelete(run(), input)).toEqual({ chunks: 2, items: [{ from: 3, to: 4 }] })
    expect((await readJob(db.outside, job.id))?.delete_plans).toBe(2)
    await deleteAll(run(), slice, job)
    await markDeleted(run(), input)
    const done = await progressOf(db.outside, job.id, 'delete')
    expect(done).toEqual({ chunks: 3, marked: 3, rows: 32_000, markedRows: 32_000 })
  })

  test('is counted within one opening: a take-over begins anew, and the column holds more than anybody plans', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await db.outside.change('update job set delete_plans = 70000 where id = ?', [job.id])
    await planDelete(run(), guarded(slice, job))
    expect((await readJob(db.outside, job.id))?.delete_plans).toBe(70_001)
    const again = await openJob(run(), opening(slice, 'b/2', headOf(job)))
    expect((await readJob(db.outside, job.id))?.delete_plans).toBe(0)
    await loadRows(db.outside, slice, linesOf(0, 1))
    await planDelete(run(), guarded(slice, again, 'b/2'))
    await expect(markDeleted(run(), guarded(slice, again, 'b/2'))).rejects.toMatchObject({ name: 'SliceNotEmpty' })
  })

  test('of rows that appear before the first and behind the last range still covers them', async () => {
    const slice = await newSlice(db.outside)
    await loadRows(db.outside, slice, linesOf(1_000, 2))
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await planDelete(run(), guarded(slice, job))
    for (const track of [0, 9_000]) await loadRows(db.outside, slice, linesOf(track, 1))
    expect(await deleteAll(run(), slice, job)).toEqual({ chunks: 1, rows: 16 })
    expect(await markDeleted(run(), guarded(slice, job))).toMatchObject({ state: 'DELETED' })
    expect(await progressOf(db.outside, job.id, 'delete')).toMatchObject({ markedRows: 16 })
  })

  test('of a slice that never empties says how far it is from giving up', async () => {
    const slice = await newSlice(db.outside)
    await loadRows(db.outside, slice, linesOf(0, 1))
    const job = await openJob(run(), opening(slice, 'a/1', null))
    for (const [plans, name] of [
      [1, 'SliceNotEmpty'],
      [4, 'SliceNotEmpty'],
      [5, 'SliceKeepsFilling'],
    ] as const) {
      await db.outside.change('update job set delete_plans = ? where id = ?', [plans, job.id])
      const refused = markDeleted(run(), guarded(slice, job))
      await expect(refused).rejects.toMatchObject({ name, job: job.id, fence: 1, state: 'DELETING' })
    }
  })
})
