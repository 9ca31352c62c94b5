import { describe, expect, test } from 'vitest'
import type { JobMessage } from '../../../functions/contract/messages.ts'
import type { Slice } from '../../../functions/contract/words.ts'
import { haltFromCatch, haltFromStatusEvent } from '../../../functions/job/halt-job.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { readHead } from '../../../functions/job/read-head.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { endOf, executionOf, headOf, opening, stagedOf, testContext } from '../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('open')
const run = () => testContext(db.connect())
const setState = (id: number, state: string) => db.outside.change('update job set state = ? where id = ?', [state, id])

/** Halts a job as the run of that token would, which holds no lock. */
const halt = (slice: Slice, token: string, job: JobMessage | null) =>
  haltFromCatch(run(), {
    execution: executionOf(token),
    slice,
    lock: { token, held: false },
    job,
    failure: { Error: 'ChunkMismatch', Cause: JSON.stringify({ errorMessage: 'chunk 3 differs' }) },
  })

describe('who was overtaken never comes back', () => {
  test('an opener with an old head is Superseded and changes nothing', async () => {
    const slice = await newSlice(db.outside)
    const first = await openJob(run(), opening(slice, 'a/1', null))
    const second = await openJob(run(), opening(slice, 'b/2', headOf(first)))
    await expect(openJob(run(), opening(slice, 'c/3', headOf(first)))).rejects.toMatchObject({ name: 'Superseded' })
    await expect(openJob(run(), opening(slice, 'a/1', null))).rejects.toMatchObject({ name: 'Superseded' })
    expect(await readJob(db.outside, first.id)).toMatchObject({ fence: second.fence, lock_token: 'b/2' })
  })

  test('an opener that stalls before its insert while others open and register is Superseded, whatever numbers are free', async () => {
    const slice = await newSlice(db.outside)
    const stalled = run()
    const { database } = stalled
    const change = database.change.bind(database)
    let registered = 0
    database.change = async (sql, params, options) => {
      if (sql.startsWith('insert into job ')) {
        const first = await openJob(run(), opening(slice, 'b/1', null))
        const again = await openJob(run(), opening(slice, 'b/2', headOf(first), { own: first }))
        expect(again.fence).toBe(2)
        await setState(again.id, 'REGISTERED')
        registered = again.id
      }
      return await change(sql, params, options)
    }
    await expect(openJob(stalled, opening(slice, 'a/1', null))).rejects.toMatchObject({ name: 'Superseded' })
    const jobs = await db.outside.rows('select id from job where distributor_id = ?', [slice.distributorId])
    expect(jobs).toEqual([{ id: registered }])
  })

  test('a run that lost its lock and was taken over is Superseded even with a fresh head', async () => {
    const slice = await newSlice(db.outside)
    const own = await openJob(run(), opening(slice, 'a/1', null))
    const other = await openJob(run(), opening(slice, 'b/2', headOf(own)))
    const back = openJob(run(), opening(slice, 'a/2', headOf(other), { own }))
    await expect(back).rejects.toMatchObject({ name: 'Superseded', job: own.id, fence: own.fence })
  })

  test('a run whose own job was closed and replaced is Superseded by the new one', async () => {
    const slice = await newSlice(db.outside)
    const own = await openJob(run(), opening(slice, 'a/1', null))
    const other = await openJob(run(), opening(slice, 'b/2', headOf(own), { staged: stagedOf('b'), supersede: true }))
    await setState(other.id, 'REGISTERED')
    const back = openJob(run(), opening(slice, 'a/2', headOf(other), { own }))
    await expect(back).rejects.toMatchObject({ name: 'Superseded' })
    await expect(back).rejects.toThrow(`job ${own.id} does not carry this run and fence 1 any more`)
  })

  test('a head that names a job where there is none, or another fence, is Superseded', async () => {
    const slice = await newSlice(db.outside)
    await expect(openJob(run(), opening(slice, 'a/1', { job: 1, fence: 1 }))).rejects.toMatchObject({
      name: 'Superseded',
    })
    const job = await openJob(run(), opening(slice, 'a/1', null))
    for (const head of [null, { job: job.id, fence: 2 }, { job: job.id + 1, fence: 1 }])
      await expect(openJob(run(), opening(slice, 'b/2', head))).rejects.toMatchObject({ name: 'Superseded' })
    expect(await readHead(run(), slice)).toEqual({ job: job.id, fence: 1 })
  })

  test('a run that lost its lock and was not taken over goes on under a new fence', async () => {
    const slice = await newSlice(db.outside)
    const own = await openJob(run(), opening(slice, 'a/1', null))
    expect(await openJob(run(), opening(slice, 'a/2', headOf(own), { own }))).toMatchObject({ id: own.id, fence: 2 })
  })
})

describe('halting', () => {
  test('raises the fence, says why in words, and writes one event', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    expect(await halt(slice, 'a/1', job)).toMatchObject({ halted: true, job: job.id })
    const [row] = await db.outside.rows('select fence, halt_error, halt_cause, lock_token from job where id = ?', [
      job.id,
    ])
    expect(row).toEqual({ fence: 2, halt_error: 'ChunkMismatch', halt_cause: 'chunk 3 differs', lock_token: null })
    expect(await halt(slice, 'a/1', job)).toMatchObject({ halted: false })
    const events = await db.outside.rows('select type from outbox where job_id = ?', [job.id])
    expect(events).toEqual([{ type: 'JobHalted' }])
  })

  test('by a run that was taken over halts nothing', async () => {
    const slice = await newSlice(db.outside)
    const old = await openJob(run(), opening(slice, 'a/1', null))
    const newer = await openJob(run(), opening(slice, 'b/2', headOf(old)))
    expect(await halt(slice, 'a/1', old)).toMatchObject({ halted: false })
    expect(await readJob(db.outside, old.id)).toMatchObject({ fence: newer.fence, halted_at: null })
  })

  test('finds the job of its token when the reply of OpenJob was lost', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    expect(await halt(slice, 'a/1', null)).toMatchObject({ halted: true, job: job.id })
  })

  test('leaves a REGISTERED job alone', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    await setState(job.id, 'REGISTERED')
    expect(await halt(slice, 'a/1', job)).toMatchObject({ halted: false })
  })

  test('by a status event halts the job of that execution, once', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'event/1', null))
    expect(await haltFromStatusEvent(run(), endOf('event/1'))).toMatchObject({
      halted: true,
      job: job.id,
    })
    expect(await haltFromStatusEvent(run(), endOf('event/1'))).toMatchObject({ halted: false })
    expect(await readHead(run(), slice)).toEqual({ job: job.id, fence: 2 })
  })

  test('by a late status event leaves the run that took over alone', async () => {
    const slice = await newSlice(db.outside)
    const old = await openJob(run(), opening(slice, 'late/1', null))
    const newer = await openJob(run(), opening(slice, 'later/2', headOf(old)))
    expect(await haltFromStatusEvent(run(), endOf('late/1'))).toMatchObject({ halted: false })
    expect(await readHead(run(), slice)).toEqual({ job: old.id, fence: newer.fence })
  })
})
