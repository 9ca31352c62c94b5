import { createHash } from 'node:crypto'
import { S3Client } from '@aws-sdk/client-s3'
import { type FauxqsServer, startFauxqs } from 'fauxqs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Manifest } from '../../../functions/contract/manifest.ts'
import type { Guarded } from '../../../functions/contract/messages.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import type { TaskContext } from '../../../functions/job/task.ts'
import { beginRegistering, markDeleted, markRegistered, planDelete } from '../../../functions/job/transitions.ts'
import { acquisitionOf, type ExclusiveTx, guardExclusive } from '../../../functions/store/job/guard.ts'
import { exclusively } from '../../../functions/store/job/held.ts'
import { progressOf, unmarkedChunks } from '../../../functions/store/job/ledger.ts'
import { countDeletePlan, markState } from '../../../functions/store/job/mark-state.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { writeStaged } from '../../../functions/store/s3/write-staged.ts'
import { totalsOf } from '../../../functions/store/share-ratio.ts'
import { deleteAll, EVERYTHING, registerAll } from '../../support/chunk-work.ts'
import { loadRows, planChunks } from '../../support/rows.ts'
import { countedBy, guarded, headOf, opening, type TestContext, testContext } from '../../support/test-context.ts'
import { linesOf, newSlice, useTestDatabase } from '../../support/test-database.ts'

const BUCKET = 'unused'
const db = useTestDatabase('transitions')
let server: FauxqsServer
let s3: S3Client

beforeAll(async () => {
  server = await startFauxqs({ port: 0, logger: false })
  server.createBucket(BUCKET)
  s3 = new S3Client({
    endpoint: `http://127.0.0.1:${server.port}`,
    region: 'ap-northeast-2',
    forcePathStyle: true,
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  })
})
afterAll(async () => {
  s3.destroy()
  await server.stop()
})

const run = (): TestContext => ({ ...testContext(db.connect()), s3 })
const setState = (id: number, state: string) => db.outside.change('update job set state = ? where id = ?', [state, id])
const stateOf = async (id: number) => (await readJob(db.outside, id))?.state

/** A staged source of `chunks` chunks, two tracks of four parties each, written to its address. */
const staged = async (letter: string, chunks: number) => {
  const body = (number: number): Buffer => linesOf(2 * number, 2)
  const manifest: Manifest = {
    version: 1,
    digest: letter.repeat(64),
    rows: 8 * chunks,
    shareSum: `${200 * chunks}.000000`,
    tracks: 2 * chunks,
    parties: 4,
    chunks: Array.from({ length: chunks }, (_, number) => ({
      number,
      rows: 8,
      bytes: body(number).length,
      digest: createHash('sha256').update(body(number)).digest('hex'),
      firstIsrc: `KRA00${String(2 * number).padStart(7, '0')}`,
      lastIsrc: `KRA00${String(2 * number + 1).padStart(7, '0')}`,
    })),
  }
  await writeStaged(s3, BUCKET, manifest, body)
  const { digest, rows, shareSum } = manifest
  return { manifest, body, message: { digest, rows, shareSum, chunks } }
}

/** A job of that staged source in DELETED. */
const deleted = async (letter: string, chunks: number) => {
  const source = await staged(letter, chunks)
  const slice = await newSlice(db.outside)
  const job = await openJob(run(), opening(slice, 'a/1', null, { staged: source.message }))
  await setState(job.id, 'DELETED')
  return { ...source, slice, job, input: guarded(slice, job) }
}

describe('a run whose lock is gone', () => {
  const tasks: readonly (readonly [string, string, (by: TaskContext, input: Guarded) => Promise<unknown>])[] = [
    ['plans no delete', 'DELETING', planDelete],
    ['does not set DELETED', 'DELETING', markDeleted],
    ['does not begin to register', 'DELETED', beginRegistering],
    ['does not set REGISTERED', 'REGISTERING', markRegistered],
    ['writes no chunk', 'REGISTERING', (by, input) => registerAll(by, { ...input, item: EVERYTHING }, [linesOf(0, 2)])],
  ]

  test.each(tasks)('%s', async (_, state, work) => {
    const { message, manifest } = await staged('a', 1)
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null, { staged: message }))
    await setState(job.id, state)
    if (state === 'REGISTERING') await planChunks(db.outside, job.id, manifest.chunks)
    const lost = { ...guarded(slice, job, 'a/1'), lock: { token: 'a/1', held: true } }
    await expect(work(run(), lost)).rejects.toMatchObject({ name: 'LockLost' })
    const row = await readJob(db.outside, job.id)
    expect(row).toMatchObject({ state, delete_plans: 0 })
    expect(await progressOf(db.outside, job.id, 'register')).toMatchObject({ marked: 0 })
  })
})

describe('a run whose job number and fence are another run’s too, as after a restore', () => {
  const given = async (state: string) => {
    const { message, manifest, body } = await staged('7', 1)
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'b/1', null, { staged: message }))
    await setState(job.id, state)
    if (state.startsWith('REGISTER')) await planChunks(db.outside, job.id, manifest.chunks)
    return { slice, job, bodies: [body(0)], input: guarded(slice, job, 'a/1') }
  }

  test.each([
    ['plans no delete', 'DELETING', planDelete],
    ['does not set DELETED', 'DELETING', markDeleted],
    ['is not told DELETED again', 'DELETED', markDeleted],
    ['does not begin to register', 'DELETED', beginRegistering],
    ['is not told what is left to register', 'REGISTERING', beginRegistering],
    ['does not set REGISTERED', 'REGISTERING', markRegistered],
    ['is not told REGISTERED again, so it cannot end as a success', 'REGISTERED', markRegistered],
  ] as const)('%s', async (_, state, work) => {
    const { job, input } = await given(state)
    const refused = work(run(), input)
    await expect(refused).rejects.toMatchObject({ name: 'StaleFence', job: job.id, fence: job.fence })
    await expect(refused).rejects.toThrow('The database went back to an earlier moment, and another run was given')
    expect(await readJob(db.outside, job.id)).toMatchObject({ state, delete_plans: 0, lock_token: 'b/1' })
  })

  test('writes no chunk', async () => {
    const { slice, job, input, bodies } = await given('REGISTERING')
    const refused = registerAll(run(), { ...input, item: EVERYTHING }, bodies)
    await expect(refused).rejects.toMatchObject({ name: 'StaleFence' })
    expect(await progressOf(db.outside, job.id, 'register')).toMatchObject({ marked: 0 })
    expect((await totalsOf(db.outside, slice)).rows).toBe(0)
  })
})

describe('a transition that changes no row', () => {
  test('is an error by name, for the state and for the count of plans', async () => {
    const { input, job } = await deleted('8', 1)
    await setState(job.id, 'DELETING')
    const by = acquisitionOf(input)
    for (const [column, value] of [
      ['fence', 2],
      ['lock_token', 'b/2'],
      ['state', 'DELETED'],
    ] as const)
      for (const write of [
        (guarded: ExclusiveTx<'DELETING'>) => markState(guarded, 'DELETED'),
        (guarded: ExclusiveTx<'DELETING'>) => countDeletePlan(guarded),
      ]) {
        const changed = exclusively(db.outside, by.id, async (held) => {
          const guarded = await guardExclusive(held, by, 'DELETING')
          // What no other session can do meanwhile, a defect within the same transaction could.
          await held.change(`update job set ${column} = ? where id = ?`, [value, by.id])
          await write(guarded)
        })
        await expect(changed).rejects.toMatchObject({ name: 'StaleFence' })
      }
    expect(await readJob(db.outside, job.id)).toMatchObject({ state: 'DELETING', delete_plans: 0 })
  })
})

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

describe('REGISTERED', () => {
  const registered = async (letter: string, chunks: number) => {
    const begun = await deleted(letter, chunks)
    await beginRegistering(run(), begun.input)
    const bodies = Array.from({ length: chunks }, (_, number) => begun.body(number))
    return { ...begun, bodies, whole: { ...begun.input, item: EVERYTHING } }
  }

  test('is told to subscribers with what was registered, once, and how long the run held the slice is counted', async () => {
    const { input, whole, bodies, slice, job, message } = await registered('2', 2)
    await registerAll(run(), whole, bodies)
    const by = run()
    const counted = countedBy(by)
    expect(await markRegistered(by, input)).toEqual({ ...job, state: 'REGISTERED' })
    expect(await markRegistered(by, input)).toEqual({ ...job, state: 'REGISTERED' })
    expect(counted.map(([name]) => name)).toEqual(['lock.hold.duration'])
    expect(counted[0]?.[1]).toBeGreaterThan(0)
    const events = await db.outside.rows('select type, payload from outbox where job_id = ?', [job.id])
    const payload = {
      distributor: slice.distributor,
      month: slice.month,
      job: job.id,
      fence: job.fence,
      source: message.digest,
      rows: 16,
      shareSum: '400.000000',
    }
    expect(events).toEqual([{ type: 'JobRegistered', payload }])
  })

  test('is refused with chunks to do, and without any chunk at all, telling how many', async () => {
    const { input, whole, bodies, job } = await registered('3', 2)
    await registerAll(run(), { ...whole, item: { from: 0, to: 0 } }, bodies)
    await expect(markRegistered(run(), input)).rejects.toMatchObject({
      name: 'ChunksUnfinished',
      message: expect.stringContaining('1 of 2 chunks'),
      job: job.id,
      fence: 1,
      state: 'REGISTERING',
    })
    await db.outside.change('delete from job_chunk where job_id = ?', [job.id])
    await expect(markRegistered(run(), input)).rejects.toMatchObject({ name: 'ChunksUnfinished' })
  })

  test('is refused to a run that was overtaken while it counted, and no take-over waits for a count', async () => {
    const { input, whole, bodies, slice, job, message } = await registered('9', 1)
    await registerAll(run(), whole, bodies)
    const by = run()
    const rows = by.database.rows.bind(by.database)
    vi.spyOn(by.database, 'rows').mockImplementation(async (sql, ...more) => {
      const found = await rows(sql, ...more)
      if (sql.includes('sum(share)')) await openJob(run(), opening(slice, 'b/2', headOf(job), { staged: message }))
      return found as never
    })
    await expect(markRegistered(by, input)).rejects.toMatchObject({ name: 'StaleFence', fence: 1 })
    expect(await readJob(db.outside, job.id)).toMatchObject({ state: 'REGISTERING', fence: 2, lock_token: 'b/2' })
  })

  test('is refused where a restore took a chunk back behind the count', async () => {
    const { input, whole, bodies, job } = await registered('c', 2)
    await registerAll(run(), whole, bodies)
    const by = run()
    const begin = by.database.begin.bind(by.database)
    vi.spyOn(by.database, 'begin').mockImplementationOnce(async (patienceS) => {
      await db.outside.change('update job_chunk set marked_at = null where job_id = ? and number = 1', [job.id])
      return await begin(patienceS)
    })
    await expect(markRegistered(by, input)).rejects.toMatchObject({ name: 'ChunksUnfinished' })
    expect(await stateOf(job.id)).toBe('REGISTERING')
  })

  test('is counted again where a restore took REGISTERED itself back', async () => {
    const { input, whole, bodies, job } = await registered('d', 1)
    await registerAll(run(), whole, bodies)
    await markRegistered(run(), input)
    const by = run()
    const begin = by.database.begin.bind(by.database)
    vi.spyOn(by.database, 'begin').mockImplementationOnce(async (patienceS) => {
      await setState(job.id, 'REGISTERING')
      return await begin(patienceS)
    })
    expect(await markRegistered(by, input)).toMatchObject({ state: 'REGISTERED' })
    expect(await stateOf(job.id)).toBe('REGISTERED')
  })

  test('is refused for a slice that does not hold what the file has, with both sums', async () => {
    const { input, whole, bodies, slice, job } = await registered('4', 1)
    await registerAll(run(), whole, bodies)
    await loadRows(db.outside, slice, linesOf(50, 1))
    await expect(markRegistered(run(), input)).rejects.toMatchObject({
      name: 'SliceMismatch',
      message: expect.stringMatching(
        /holds 12 rows summing to 300\.000000, the file has 8 rows summing to 200\.000000/,
      ),
      job: job.id,
    })
    expect(await stateOf(job.id)).toBe('REGISTERING')
  })

  test('is refused for a slice with one row more that sums to the very same', async () => {
    const { input, whole, bodies, slice } = await registered('f', 1)
    await registerAll(run(), whole, bodies)
    const halve = `where distributor_id = ? and isrc = 'KRA000000000' and party_id = 'P1'`
    await db.outside.change(`update share_ratio set share = 12.5 ${halve}`, [slice.distributorId])
    await loadRows(db.outside, slice, Buffer.from('KRA000000000\tPERFORMANCE\tP9\t12.500000\n'))
    await expect(markRegistered(run(), input)).rejects.toMatchObject({
      name: 'SliceMismatch',
      message: expect.stringContaining('holds 9 rows summing to 200.000000'),
    })
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
