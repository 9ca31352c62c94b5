import { describe, expect, test } from 'vitest'
import type { ChunkInput, JobMessage } from '../../../functions/contract/messages.ts'
import type { Phase, Slice } from '../../../functions/contract/words.ts'
import { markRegistered } from '../../../functions/job/mark-registered.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { runChunks } from '../../../functions/job/run-chunks.ts'
import type { TaskContext } from '../../../functions/job/task.ts'
import { acquisitionOf, guardShared } from '../../../functions/store/job/guard.ts'
import { markChunk, progressOf } from '../../../functions/store/job/ledger.ts'
import { transaction } from '../../../functions/store/mysql/transaction.ts'
import { loadChunk, totalsOf } from '../../../functions/store/share-ratio.ts'
import { EVERYTHING, registerAll } from '../../support/chunk-work.ts'
import { loadRows, planChunks } from '../../support/rows.ts'
import { useStagedJobs } from '../../support/staged-jobs.ts'
import { guarded, headOf, opening, stagedOf } from '../../support/test-context.ts'
import { linesOf, newSlice } from '../../support/test-database.ts'

const { db, run, staged } = useStagedJobs('chunks')

/** A job in REGISTERING with two chunks of eight rows in its ledger. */
const registering = async (slice: Slice) => {
  const { manifest, message } = await staged('a', 2)
  const job = await openJob(run(), opening(slice, 'a/1', null, { staged: message }))
  await db.outside.change(`update job set state = 'REGISTERING' where id = ?`, [job.id])
  await planChunks(db.outside, job.id, manifest.chunks)
  const input: ChunkInput = { ...guarded(slice, job), item: EVERYTHING }
  return { job, input, bodies: [linesOf(0, 2), linesOf(2, 2)] }
}

const marks = (job: number, phase: Phase) => progressOf(db.outside, job, phase)

describe('registering', () => {
  test('the same chunks run twice at once take effect once', async () => {
    const slice = await newSlice(db.outside)
    const { job, input, bodies } = await registering(slice)
    let writes = 0
    const count = async () => {
      writes += 1
    }
    await Promise.all([registerAll(run(), input, bodies, count), registerAll(run(), input, bodies, count)])
    expect(writes).toBe(2)
    const again = transaction(db.connect(), async (tx) =>
      markChunk(await guardShared(tx, acquisitionOf(input), 'REGISTERING'), 0),
    )
    expect(await again).toBe('marked before')
    expect(await totalsOf(db.outside, { ...slice, slot: 0 })).toEqual({ rows: 16, shareSum: '400.000000' })
    expect(await markRegistered(run(), guarded(slice, job))).toMatchObject({ state: 'REGISTERED' })
  })

  test('a fence raise waits for the chunk in flight and shuts out the next', async () => {
    const slice = await newSlice(db.outside)
    const { job, input, bodies } = await registering(slice)
    let takeOver: Promise<JobMessage> | undefined
    const order: string[] = []
    const old = registerAll(run(), input, bodies, async () => {
      takeOver ??= openJob(run(), opening(slice, 'b/2', headOf(job), { staged: stagedOf('a', 16, '400.000000') })).then(
        (opened) => {
          order.push('opened')
          return opened
        },
      )
      await new Promise((resume) => setTimeout(resume, 300))
      order.push('written')
    })
    await expect(old).rejects.toMatchObject({ name: 'StaleFence' })
    const newer = await takeOver
    expect(order).toEqual(['written', 'opened'])
    expect(newer).toMatchObject({ fence: 2, state: 'REGISTERING' })
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(8)
    const taken = guarded(slice, newer as JobMessage, 'b/2')
    await registerAll(run(), { ...taken, item: EVERYTHING }, bodies)
    expect(await markRegistered(run(), taken)).toMatchObject({ state: 'REGISTERED' })
  })

  test('a connection killed between guard and write leaves neither mark nor row, and the chunk is rerun whole', async () => {
    const slice = await newSlice(db.outside)
    const { job, input, bodies } = await registering(slice)
    const by = run()
    let kills = 0
    const seen: number[] = []
    await runChunks(by, input, 'register', {
      prepare: async (chunk) => bodies[chunk.number] ?? Buffer.alloc(0),
      write: async (tx, _, body) => {
        if (kills === 0) {
          kills += 1
          const [me] = await tx.rows<{ id: number }>('select connection_id() as id')
          await db.outside.change('kill ?', [me?.id ?? 0])
          await new Promise((resume) => setTimeout(resume, 100))
          seen.push((await marks(job.id, 'register')).marked)
        }
        return (await loadChunk(tx, body)).rows
      },
    })
    expect(seen).toEqual([0])
    expect(await totalsOf(db.outside, { ...slice, slot: 0 })).toEqual({ rows: 16, shareSum: '400.000000' })
    expect(await marks(job.id, 'register')).toMatchObject({ marked: 2 })
  })

  test('a deadlock reruns the chunk from its guard and leaves no stray row', async () => {
    const slice = await newSlice(db.outside)
    const { job, input, bodies } = await registering(slice)
    const by = run()
    let tries = 0
    await runChunks(by, { ...input, item: { from: 0, to: 0 } }, 'register', {
      prepare: async () => bodies[0] ?? Buffer.alloc(0),
      write: async (tx, _, body) => {
        const { rows } = await loadChunk(tx, body)
        tries += 1
        if (tries === 1) throw Object.assign(new Error('Deadlock found'), { errno: 1213 })
        return rows
      },
    })
    expect(tries).toBe(2)
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(8)
    expect(await marks(job.id, 'register')).toMatchObject({ marked: 1 })
  })

  test('a lock wait timeout rolls back the mark with the rows', async () => {
    const slice = await newSlice(db.outside)
    const { job, input, bodies } = await registering(slice)
    const blocker = db.connect()
    await blocker.begin()
    await loadRows(blocker, slice, linesOf(1, 1))
    const by = run()
    const blocked = runChunks(by, { ...input, item: { from: 0, to: 0 } }, 'register', {
      prepare: async () => bodies[0] ?? Buffer.alloc(0),
      write: async (tx, _, body) => {
        await tx.change('set session innodb_lock_wait_timeout = 1')
        return (await loadChunk(tx, body)).rows
      },
    })
    await new Promise((resume) => setTimeout(resume, 1_500))
    expect(await marks(job.id, 'register')).toMatchObject({ marked: 0 })
    await blocker.rollback()
    await blocked
    expect(await marks(job.id, 'register')).toMatchObject({ marked: 1 })
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(8)
  })

  test('REGISTERED is refused while the slice holds one row more, or a share differs', async () => {
    const slice = await newSlice(db.outside)
    const { job, input, bodies } = await registering(slice)
    await expect(markRegistered(run(), guarded(slice, job))).rejects.toMatchObject({ name: 'ChunksUnfinished' })
    await registerAll(run(), input, bodies)
    await loadRows(db.outside, slice, linesOf(100, 1))
    await expect(markRegistered(run(), guarded(slice, job))).rejects.toMatchObject({ name: 'SliceMismatch' })
    await db.outside.change(`delete from share_ratio where distributor_id = ? and isrc = 'KRA000000100'`, [
      slice.distributorId,
    ])
    await db.outside.change(`update share_ratio set share = 24.999999 where distributor_id = ? and isrc > '' limit 1`, [
      slice.distributorId,
    ])
    await expect(markRegistered(run(), guarded(slice, job))).rejects.toMatchObject({ name: 'SliceMismatch' })
    await db.outside.change(`update share_ratio set share = 25 where distributor_id = ? and isrc > '' and isrc < '['`, [
      slice.distributorId,
    ])
    await markRegistered(run(), guarded(slice, job))
    await markRegistered(run(), guarded(slice, job))
    const events = await db.outside.rows('select type from outbox where job_id = ?', [job.id])
    expect(events).toEqual([{ type: 'JobRegistered' }])
  })

  test('work stops between chunks when the time is short, and goes on where it stopped', async () => {
    const slice = await newSlice(db.outside)
    const { input, bodies } = await registering(slice)
    let written = 0
    const short: TaskContext = { ...run(), remainingMs: () => (written === 0 ? 300_000 : 1_000) }
    const stopped = registerAll(short, input, bodies, async () => {
      written += 1
    })
    await expect(stopped).rejects.toMatchObject({ name: 'OutOfTime' })
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(8)
    await registerAll(run(), input, bodies)
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(16)
  })
})
