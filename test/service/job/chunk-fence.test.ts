import { describe, expect, test } from 'vitest'
import type { ChunkInput } from '../../../functions/contract/messages.ts'
import type { Phase, Slice } from '../../../functions/contract/words.ts'
import { markRegistered } from '../../../functions/job/mark-registered.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { planDelete } from '../../../functions/job/transitions.ts'
import { acquisitionOf, guardShared } from '../../../functions/store/job/guard.ts'
import { markChunk, progressOf, recordRows } from '../../../functions/store/job/ledger.ts'
import { transaction } from '../../../functions/store/mysql/transaction.ts'
import { loadChunk, totalsOf } from '../../../functions/store/share-ratio.ts'
import { deleteAll, EVERYTHING, registerAll } from '../../support/chunk-work.ts'
import { loadRows, planChunks } from '../../support/rows.ts'
import { guarded, headOf, opening, stagedOf, testContext } from '../../support/test-context.ts'
import { linesOf, newSlice, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('chunks')
const run = () => testContext(db.connect())
const digest = 'a'.repeat(64)
const chunkOf = (number: number, rows: number) => ({ number, rows, bytes: 1, digest, firstIsrc: 'A', lastIsrc: 'B' })

/** A job in REGISTERING with two chunks of eight rows in its ledger. */
const registering = async (slice: Slice) => {
  const staged = stagedOf('a', 16, '400.000000')
  const job = await openJob(run(), opening(slice, 'a/1', null, { staged }))
  await db.outside.change(`update job set state = 'REGISTERING' where id = ?`, [job.id])
  await planChunks(db.outside, job.id, [chunkOf(0, 8), chunkOf(1, 8)])
  const input: ChunkInput = { ...guarded(slice, job), item: EVERYTHING }
  return { job, input, bodies: [linesOf(0, 2), linesOf(2, 2)] }
}

const marks = (job: number, phase: Phase) => progressOf(db.outside, job, phase)

describe('a stale fence', () => {
  test('deletes nothing', async () => {
    const slice = await newSlice(db.outside)
    await loadRows(db.outside, slice, linesOf(0, 100))
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await planDelete(run(), guarded(slice, job))
    await openJob(run(), opening(slice, 'b/2', headOf(job)))
    await expect(deleteAll(run(), slice, job)).rejects.toMatchObject({ name: 'StaleFence' })
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(400)
  })

  test('registers nothing and plans nothing', async () => {
    const slice = await newSlice(db.outside)
    const { job, input, bodies } = await registering(slice)
    await openJob(run(), opening(slice, 'b/2', headOf(job)))
    await expect(registerAll(run(), input, bodies)).rejects.toMatchObject({ name: 'StaleFence' })
    await expect(markRegistered(run(), guarded(slice, job))).rejects.toMatchObject({ name: 'StaleFence' })
    await expect(planDelete(run(), guarded(slice, job))).rejects.toMatchObject({ name: 'StaleFence' })
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(0)
  })

  test('is refused in the wrong state too: no row is registered before DELETED', async () => {
    const slice = await newSlice(db.outside)
    const { job, input, bodies } = await registering(slice)
    await db.outside.change(`update job set state = 'DELETING' where id = ?`, [job.id])
    await expect(registerAll(run(), input, bodies)).rejects.toMatchObject({ name: 'StaleFence' })
    await expect(markRegistered(run(), guarded(slice, job))).rejects.toMatchObject({ name: 'StaleFence' })
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(0)
  })
})

test('rows of a chunk that the ledger does not know are recorded nowhere, and that is an error by name', async () => {
  const slice = await newSlice(db.outside)
  await loadRows(db.outside, slice, linesOf(0, 1))
  const input = guarded(slice, await openJob(run(), opening(slice, 'a/1', null)))
  const recording = transaction(db.connect(), async (tx) =>
    recordRows(await guardShared(tx, acquisitionOf(input), 'DELETING'), 7, 4),
  )
  await expect(recording).rejects.toMatchObject({ name: 'ChunkMismatch', job: input.job.id, fence: input.job.fence })
})

describe('a worker that froze with its rows written', () => {
  test('is killed by the next attempt of its chunk, which then takes effect once', async () => {
    const slice = await newSlice(db.outside)
    const { job, input, bodies } = await registering(slice)
    const frozen = db.connect()
    const tx = await guardShared(await frozen.begin(), acquisitionOf(input), 'REGISTERING')
    await markChunk(tx, 0)
    await loadChunk(tx, bodies[0] as Buffer)
    await registerAll(run(), input, bodies)
    expect(await totalsOf(db.outside, { ...slice, slot: 0 })).toEqual({ rows: 16, shareSum: '400.000000' })
    await expect(frozen.commit()).rejects.toThrow()
    expect((await marks(job.id, 'register')).marked).toBe(2)
  })
})
