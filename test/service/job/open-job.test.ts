import { describe, expect, test } from 'vitest'
import type { JobMessage } from '../../../functions/contract/messages.ts'
import type { Slice } from '../../../functions/contract/words.ts'
import { haltFromCatch, haltFromStatusEvent } from '../../../functions/job/halt-job.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { readHead } from '../../../functions/job/read-head.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { endOf, executionOf, headOf, LIFE, opening, stagedOf, testContext } from '../../support/test-context.ts'
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

/** Until the server holds a session back for a lock. */
const untilWaiting = async (): Promise<void> => {
  while ((await db.outside.rows('select 1 from performance_schema.data_lock_waits limit 1')).length === 0);
}

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
    expect(second).toEqual({ id: first.id, fence: 3, state: 'REGISTERING', outcome: 'taken over' })
    expect(await readJob(db.outside, first.id)).toMatchObject({ halted_at: null, halt_error: null, lock_token: 'b/2' })
  })

  test('of another source is refused, saying what to do', async () => {
    const slice = await newSlice(db.outside)
    const first = await openJob(run(), opening(slice, 'a/1', null))
    const second = openJob(run(), opening(slice, 'b/2', headOf(first), { staged: stagedOf('b') }))
    await expect(second).rejects.toMatchObject({ name: 'JobOpenError', job: first.id })
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

describe('an execution that has ended', () => {
  test('opens nothing any more: its OpenJob comes after its end', async () => {
    const slice = await newSlice(db.outside)
    expect(await haltFromStatusEvent(run(), endOf('ended/1'))).toMatchObject({ halted: false })
    const late = openJob(run(), opening(slice, 'ended/1', null))
    await expect(late).rejects.toMatchObject({ name: 'ExecutionEnded' })
    await expect(late).rejects.toThrow('before it opened the job. It changed nothing.')
    expect(await readHead(run(), slice)).toBeNull()
  })

  test('opens nothing over an open job either, and leaves it as it was', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'other/1', null))
    await haltFromStatusEvent(run(), endOf('over/1'))
    const late = openJob(run(), opening(slice, 'over/1', headOf(job)))
    await expect(late).rejects.toMatchObject({ name: 'ExecutionEnded' })
    expect(await readHead(run(), slice)).toEqual(headOf(job))
  })

  test('while its OpenJob is in flight has the job halted that this one commits', async () => {
    const slice = await newSlice(db.outside)
    const opener = run()
    const [inserted, commits] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const commit = opener.database.commit.bind(opener.database)
    opener.database.commit = async () => {
      inserted.resolve()
      await commits.promise
      await commit()
    }
    const opened = openJob(opener, opening(slice, 'flight/1', null))
    await inserted.promise
    const halted = haltFromStatusEvent(run(), endOf('flight/1'))
    await untilWaiting()
    commits.resolve()
    const job = await opened
    expect(await halted).toMatchObject({ halted: true, job: job.id })
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: 2, halt_error: 'ExecutionABORTED' })
    await expect(openJob(run(), opening(slice, 'flight/1', null))).rejects.toMatchObject({ name: 'ExecutionEnded' })
  })

  test('while its OpenJob is frozen gets that one killed, and once awake it opens nothing', async () => {
    const slice = await newSlice(db.outside)
    const frozen = run()
    const [inserted, thaw] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const commit = frozen.database.commit.bind(frozen.database)
    frozen.database.commit = async () => {
      inserted.resolve()
      await thaw.promise
      await commit()
    }
    const opened = openJob(frozen, opening(slice, 'frozen/1', null))
    opened.catch(() => undefined)
    await inserted.promise
    expect(await haltFromStatusEvent(run(), endOf('frozen/1'))).toMatchObject({ halted: false, job: null })
    thaw.resolve()
    await expect(opened).rejects.toMatchObject({ name: 'ExecutionEnded' })
    expect(await readHead(run(), slice)).toBeNull()
  })

  test('opens again once it was redriven, and a later execution may use its name', async () => {
    await haltFromStatusEvent(run(), endOf('reused/1'))
    await haltFromStatusEvent(run(), endOf('reused/1', { redriveCount: 1 }))
    // Told late, twice: it does not take the newer end back.
    await haltFromStatusEvent(run(), endOf('reused/1'))
    for (const [life, opens] of [
      [{ ...LIFE, redrives: 0 }, false],
      [{ ...LIFE, redrives: 1 }, false],
      [{ ...LIFE, redrives: 2 }, true],
      [{ startedAt: '2027-01-05T00:00:00.000Z', redrives: 0 }, true],
    ] as const) {
      const opened = openJob(run(), { ...opening(await newSlice(db.outside), 'reused/1', null), life })
      if (opens) expect(await opened).toMatchObject({ outcome: 'opened' })
      else await expect(opened).rejects.toMatchObject({ name: 'ExecutionEnded' })
    }
  })

  test('is known by its start, whether that came as text or as a number, to the second', async () => {
    await haltFromStatusEvent(run(), endOf('rounded/1', { startedAt: '2026-10-01T00:00:00.400Z' }))
    const late = openJob(run(), opening(await newSlice(db.outside), 'rounded/1', null))
    await expect(late).rejects.toMatchObject({ name: 'ExecutionEnded' })
  })
})

describe('a frozen worker that holds the job row', () => {
  test('is killed where it had inserted the slice’s very first job, and another run opens it', async () => {
    const slice = await newSlice(db.outside)
    const frozen = testContext(db.connect())
    const open = Promise.withResolvers<void>()
    frozen.database.commit = () => {
      open.resolve()
      return new Promise(() => undefined)
    }
    openJob(frozen, opening(slice, 'a/1', null)).catch(() => undefined)
    await open.promise
    const job = await openJob(run(), opening(slice, 'b/2', null))
    expect(job).toMatchObject({ fence: 1, outcome: 'opened' })
    expect(
      await db.outside.rows('select lock_token from job where settlement_month = ? and distributor_id = ?', [
        `${slice.month}-01`,
        slice.distributorId,
      ]),
    ).toEqual([{ lock_token: 'b/2' }])
    await expect(frozen.database.rows('select 1')).rejects.toThrow()
  })

  test('is killed where the server refused its insert after it froze, and no opener, halt or neighbour waits for it', async () => {
    const [early, slice] = [await newSlice(db.outside), await newSlice(db.outside)]
    const [first, frozen] = [run(), run()]
    const [inserted, sent, thaw] = [
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
      Promise.withResolvers<void>(),
    ]
    const commit = first.database.commit.bind(first.database)
    first.database.commit = async () => {
      inserted.resolve()
      await thaw.promise
      await commit()
    }
    const begin = frozen.database.begin.bind(frozen.database)
    let winner: Promise<JobMessage> | undefined
    frozen.database.begin = async (patienceS) => {
      // Both have seen no job by now.
      winner ??= openJob(first, opening(slice, 'a/1', null))
      await inserted.promise
      return await begin(patienceS)
    }
    const change = frozen.database.change.bind(frozen.database)
    frozen.database.change = async (sql, ...more) => {
      if (!sql.startsWith('insert into job ')) return await change(sql, ...more)
      change(sql, ...more).catch(() => undefined)
      sent.resolve()
      return await new Promise(() => undefined)
    }
    openJob(frozen, opening(slice, 'b/2', null)).catch(() => undefined)
    await sent.promise
    await untilWaiting()
    thaw.resolve()
    const job = (await winner) as JobMessage
    const [next, neighbour] = await Promise.all([
      openJob(run(), opening(slice, 'c/3', headOf(job))),
      openJob(run(), opening(early, 'n/1', null)),
    ])
    expect(next).toMatchObject({ id: job.id, fence: 2, outcome: 'taken over' })
    expect(neighbour).toMatchObject({ fence: 1, outcome: 'opened' })
    expect(await halt(slice, 'c/3', next)).toMatchObject({ halted: true })
  })

  test('is killed by an opener that had looked before the frozen one inserted', async () => {
    const slice = await newSlice(db.outside)
    const [frozen, late] = [run(), run()]
    const inserted = Promise.withResolvers<void>()
    frozen.database.commit = () => {
      inserted.resolve()
      return new Promise(() => undefined)
    }
    const begin = late.database.begin.bind(late.database)
    late.database.begin = async (patienceS) => {
      late.database.begin = begin
      openJob(frozen, opening(slice, 'a/1', null)).catch(() => undefined)
      await inserted.promise
      return await begin(patienceS)
    }
    expect(await openJob(late, opening(slice, 'b/2', null))).toMatchObject({ fence: 1, outcome: 'opened' })
  })

  test('is killed, the take-over goes through, and its late write changes nothing', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null))
    const frozen = db.connect()
    await frozen.begin()
    await frozen.rows('select id from job where id = ? for share', [job.id])
    const startedAt = performance.now()
    const newer = await openJob(run(), opening(slice, 'b/2', headOf(job)))
    expect(newer.fence).toBe(2)
    // Two seconds of patience, and what a busy machine adds; the server itself would end it after ten minutes.
    expect(performance.now() - startedAt).toBeLessThan(60_000)
    const late = frozen.change('insert into outbox (event_id, job_id, type, payload) values (uuid(), ?, ?, ?)', [
      job.id,
      'Late',
      '{}',
    ])
    await expect(late).rejects.toThrow()
    expect(await db.outside.rows(`select id from outbox where job_id = ? and type = 'Late'`, [job.id])).toEqual([])
    await frozen.rollback()
  })
})
