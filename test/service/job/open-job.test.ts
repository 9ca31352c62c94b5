import { describe, expect, test } from 'vitest'
import type { JobMessage } from '../../../functions/contract/messages.ts'
import type { Slice } from '../../../functions/contract/words.ts'
import { haltFromCatch } from '../../../functions/job/halt-job.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { readHead } from '../../../functions/job/read-head.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { executionOf, headOf, opening, stagedOf, testContext } from '../../support/test-context.ts'
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

describe('the first job of a slice', () => {
  test('has no job before it to compare with', async () => {
    expect(await readHead(run(), await newSlice(db.outside))).toBeNull()
  })

  test('begins in DELETING under fence 1', async () => {
    const slice = await newSlice(db.outside)
    expect(await openJob(run(), opening(slice, 'a/1', null))).toMatchObject({
      fence: 1,
      state: 'DELETING',
      outcome: 'opened',
    })
  })

  test('a repetition with the same token returns the same fence', async () => {
    const slice = await newSlice(db.outside)
    const first = await openJob(run(), opening(slice, 'a/1', null))
    expect(await openJob(run(), opening(slice, 'a/1', null))).toEqual({ ...first, outcome: 'repeated' })
  })

  test('a twin with the same token that inserted first is found: the answer is the same, nothing is halted', async () => {
    const slice = await newSlice(db.outside)
    const late = run()
    const { database } = late
    const change = database.change.bind(database)
    let twin: Awaited<ReturnType<typeof openJob>> | undefined
    database.change = async (sql, params, options) => {
      if (sql.startsWith('insert into execution ')) twin ??= await openJob(run(), opening(slice, 'a/1', null))
      return await change(sql, params, options)
    }
    const answer = await openJob(late, opening(slice, 'a/1', null))
    expect(answer).toEqual({ ...twin, outcome: 'repeated' })
  })

  test('of ten openers without any lock MySQL alone lets one through', async () => {
    const slice = await newSlice(db.outside)
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => openJob(run(), opening(slice, `run-${index}/x`, null))),
    )
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ name: 'Superseded' })
    const jobs = await db.outside.rows('select id from job where distributor_id = ?', [slice.distributorId])
    expect(jobs).toHaveLength(1)
  })
})

describe('an open job', () => {
  test('of the same source is taken over: next fence, state kept, halt cleared', async () => {
    const slice = await newSlice(db.outside)
    const first = await openJob(run(), opening(slice, 'a/1', null))
    await setState(first.id, 'REGISTERING')
    await halt(slice, 'a/1', first)
    const second = await openJob(run(), opening(slice, 'b/2', { job: first.id, fence: 2 }))
    const taken = { id: first.id, fence: 3, state: 'REGISTERING', outcome: 'taken over', reusesSet: false }
    expect(second).toEqual(taken)
    expect(await readJob(db.outside, first.id)).toMatchObject({ halted_at: null, halt_error: null, lock_token: 'b/2' })
  })

  test('of another source is refused, saying what to do', async () => {
    const slice = await newSlice(db.outside)
    const first = await openJob(run(), opening(slice, 'a/1', null))
    const second = openJob(run(), opening(slice, 'b/2', headOf(first), { staged: stagedOf('b') }))
    const { source_digest: source } = (await readJob(db.outside, first.id)) ?? {}
    const data = { source, openedBy: executionOf('a/1'), haltedBy: null }
    await expect(second).rejects.toMatchObject({ name: 'JobOpenError', job: first.id, data })
    await expect(second).rejects.toThrow(/has an open job of another file/)
    expect((await readJob(db.outside, first.id))?.fence).toBe(1)
  })

  test('of another source is closed by supersede, and a new one begins in DELETING', async () => {
    const slice = await newSlice(db.outside)
    const first = await openJob(run(), opening(slice, 'a/1', null))
    const second = await openJob(
      run(),
      opening(slice, 'b/2', headOf(first), { staged: stagedOf('b'), supersede: true }),
    )
    expect(second).toMatchObject({ fence: 3, state: 'DELETING', outcome: 'superseding' })
    expect(await readJob(db.outside, first.id)).toMatchObject({
      fence: 2,
      closed_at: expect.any(String),
      lock_token: null,
    })
  })

  test('of the same source starts over with supersede and force together, with either alone it is taken over', async () => {
    const slice = await newSlice(db.outside)
    let head = headOf(await openJob(run(), opening(slice, 'a/1', null)))
    for (const [token, change] of [
      ['b/2', { force: true }],
      ['c/3', { supersede: true }],
    ] as const) {
      const taken = await openJob(run(), opening(slice, token, head, change))
      expect(taken).toMatchObject({ id: head.job, fence: head.fence + 1, outcome: 'taken over' })
      head = headOf(taken)
    }
    const over = await openJob(run(), opening(slice, 'd/4', head, { supersede: true, force: true }))
    expect(over).toMatchObject({ fence: head.fence + 2, state: 'DELETING', outcome: 'superseding' })
    expect(over.id).not.toBe(head.job)
  })

  test('is not started over by its own run, which comes back after it lost its lock', async () => {
    const slice = await newSlice(db.outside)
    const own = await openJob(run(), opening(slice, 'a/1', null))
    const back = await openJob(run(), opening(slice, 'a/2', headOf(own), { own, supersede: true, force: true }))
    expect(back).toMatchObject({ id: own.id, fence: 2, outcome: 'taken over' })
  })

  test('is refused naming who opened it, or who halted it', async () => {
    const slice = await newSlice(db.outside)
    const first = await openJob(run(), opening(slice, 'a/1', null))
    const other = (head: ReturnType<typeof headOf>) =>
      openJob(run(), opening(slice, 'b/2', head, { staged: stagedOf('b') }))
    await expect(other(headOf(first))).rejects.toThrow(`staged source ${'a'.repeat(64)}, opened by arn:execution:a`)
    await expect(other(headOf(first))).rejects.toMatchObject({ fence: 1, state: 'DELETING' })
    await halt(slice, 'a/1', first)
    await expect(other({ job: first.id, fence: 2 })).rejects.toThrow(/halted at 20\d\d-\S+ \S+ by ChunkMismatch/)
  })

  test('keeps who asked for it, how, and for what', async () => {
    const slice = await newSlice(db.outside)
    const staged = stagedOf('c', 24, '600.000000')
    const earlier = await openJob(run(), opening(slice, 'e/1', null, { staged }))
    await setState(earlier.id, 'REGISTERED')
    const newest = await openJob(run(), opening(slice, 'n/1', headOf(earlier), { staged: stagedOf('d') }))
    await setState(newest.id, 'REGISTERED')
    const input = opening(slice, 'a/1', headOf(newest), { staged })
    const asked = { ...input, request: { ...input.request, source: { undo: true as const }, requestedBy: 'kim' } }
    const job = await openJob(run(), asked)
    expect(await readJob(db.outside, job.id)).toMatchObject({
      requested_by: 'kim',
      is_undo: 1,
      execution: 'arn:execution:a',
      source_digest: 'c'.repeat(64),
      source_rows: 24,
      source_share_sum: '600.000000',
      lock_token: 'a/1',
      closed_at: null,
    })
    const plain = await openJob(run(), opening(await newSlice(db.outside), 'p/1', null))
    expect(await readJob(db.outside, plain.id)).toMatchObject({ is_undo: 0 })
  })

  test('a second open job is refused by the unique key, no matter who inserts it', async () => {
    const slice = await newSlice(db.outside)
    await openJob(run(), opening(slice, 'a/1', null))
    const insert = db.outside.change(
      `insert into job (distributor_id, settlement_month, state, fence, execution, execution_started_ms, execution_redrives, requested_by,
                        source_digest, source_rows, source_share_sum)
       select distributor_id, settlement_month, state, 99, execution, execution_started_ms, execution_redrives, requested_by, source_digest, source_rows, source_share_sum
       from job where distributor_id = ?`,
      [slice.distributorId],
    )
    await expect(insert).rejects.toMatchObject({ errno: 1062 })
  })
})

describe('a REGISTERED job', () => {
  test('of the same source is answered and not repeated', async () => {
    const slice = await newSlice(db.outside)
    const first = await openJob(run(), opening(slice, 'a/1', null))
    await setState(first.id, 'REGISTERED')
    const second = await openJob(run(), opening(slice, 'b/2', headOf(first)))
    expect(second).toEqual({ ...first, state: 'REGISTERED', outcome: 'already registered' })
  })

  test('of the same source is replaced when forced', async () => {
    const slice = await newSlice(db.outside)
    const first = await openJob(run(), opening(slice, 'a/1', null))
    await setState(first.id, 'REGISTERED')
    const second = await openJob(run(), opening(slice, 'b/2', headOf(first), { force: true }))
    expect(second).toMatchObject({ fence: 2, state: 'DELETING', outcome: 'opened' })
    expect(second.id).not.toBe(first.id)
  })

  test('found again by the run that registered it ends that run, even a forced one', async () => {
    const slice = await newSlice(db.outside)
    const own = await openJob(run(), opening(slice, 'a/1', null))
    await setState(own.id, 'REGISTERED')
    const again = await openJob(run(), opening(slice, 'a/2', headOf(own), { own, force: true }))
    expect(again).toMatchObject({ id: own.id, state: 'REGISTERED' })
  })
})
