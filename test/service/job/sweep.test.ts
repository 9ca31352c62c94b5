import { describe, expect, test } from 'vitest'
import { LOCK_TTL_MS } from '../../../functions/contract/limits.ts'
import { SWEEP_JOBS_MAX } from '../../../functions/contract/support-limits.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { sweep } from '../../../functions/job/sweep.ts'
import { markEnded } from '../../../functions/store/job/execution.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { tryAcquire } from '../../../functions/store/lock/acquire.ts'
import { openLockClient } from '../../../functions/store/lock/client.ts'
import { release } from '../../../functions/store/lock/release.ts'
import { transaction } from '../../../functions/store/mysql/transaction.ts'
import { executionOf, LIFE, opening, testContext } from '../../support/test-context.ts'
import { INPUT, QUIET_S, Topic, useSweep } from './use-sweep.ts'

const { db, openedAgo, runWith } = useSweep()

describe('an open job without a lock', () => {
  test('is halted after a while, saying why, and its lock can be acquired and its job resumed', async () => {
    const { slice, job } = await openedAgo(15)
    const topic = new Topic()
    expect(await sweep(runWith(topic), INPUT, QUIET_S)).toMatchObject({ halted: [job.id], locked: [], unknown: [] })
    const row = await readJob(db.outside, job.id)
    expect(row).toMatchObject({ fence: job.fence + 1, halt_error: 'Abandoned', lock_token: null })
    expect(topic.taken.map((text) => JSON.parse(text))).toMatchObject([
      { type: 'JobHalted', job: job.id, error: 'Abandoned', distributor: slice.distributor, fence: job.fence + 1 },
    ])
    const resumed = await openJob(
      testContext(db.connect()),
      opening(slice, 'b/2', { job: job.id, fence: job.fence + 1 }),
    )
    expect(resumed).toMatchObject({ id: job.id, outcome: 'taken over' })
  })

  test('is halted once: a second sweep changes nothing', async () => {
    const { job } = await openedAgo(15)
    await sweep(runWith(new Topic()), INPUT, QUIET_S)
    const topic = new Topic()
    expect(await sweep(runWith(topic), INPUT, QUIET_S)).toMatchObject({ halted: [], published: 0 })
    expect(topic.taken).toEqual([])
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: job.fence + 1 })
  })

  test('is halted once by two sweeps side by side', async () => {
    const { job } = await openedAgo(15)
    const reports = await Promise.all([1, 2].map(() => sweep(runWith(new Topic()), INPUT, QUIET_S)))
    expect(reports.flatMap(({ halted }) => halted)).toEqual([job.id])
    const events = await db.outside.rows('select id from outbox where job_id = ?', [job.id])
    expect(events).toHaveLength(1)
  })

  test('is left alone while it is young', async () => {
    const { job } = await openedAgo(5)
    expect(await sweep(runWith(new Topic()), INPUT, QUIET_S)).toMatchObject({ halted: [] })
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: job.fence, halted_at: null })
  })

  test('is left alone while its ledger is marked, whatever its age', async () => {
    const { job } = await openedAgo(15)
    await db.outside.change(
      `insert into job_chunk (job_id, phase, number, from_isrc, row_count, marked_at)
       values (?, 'delete', 0, 'KRA000000000', 1, current_timestamp(6) - interval 1 minute)`,
      [job.id],
    )
    expect(await sweep(runWith(new Topic()), INPUT, QUIET_S)).toMatchObject({ halted: [] })
  })

  test('is left alone just after a transition', async () => {
    const { job } = await openedAgo(15)
    await db.outside.change(`update job set state = 'DELETED', deleted_at = current_timestamp(6) where id = ?`, [
      job.id,
    ])
    expect(await sweep(runWith(new Topic()), INPUT, QUIET_S)).toMatchObject({ halted: [] })
  })
})

describe('an open job whose execution is known to have ended', () => {
  const end = (token: string, change: { startedMs?: number; redrives?: number } = {}) => {
    const life = { startedMs: Date.parse(LIFE.startedAt), redrives: 0, ...change }
    const { database } = testContext(db.connect())
    return transaction(database, (tx) => markEnded(tx, executionOf(token), life))
  }

  test('is halted at the next sweep, though it was at work a moment ago', async () => {
    const { job } = await openedAgo(0, 'ended/1')
    expect(await sweep(runWith(new Topic()), INPUT, QUIET_S)).toMatchObject({ halted: [] })
    await end('ended/1')
    expect(await sweep(runWith(new Topic()), INPUT, QUIET_S)).toMatchObject({ halted: [job.id] })
  })

  test('in an earlier life, or before it was redriven, is left alone', async () => {
    await openedAgo(0, 'again/1')
    await end('again/1', { startedMs: Date.parse('2026-01-01T00:00:00Z') })
    expect(await sweep(runWith(new Topic()), INPUT, QUIET_S)).toMatchObject({ halted: [] })
    const { job } = await openedAgo(0, 'redriven/1')
    await db.outside.change('update job set execution_redrives = 1 where id = ?', [job.id])
    await end('redriven/1')
    expect(await sweep(runWith(new Topic()), INPUT, QUIET_S)).toMatchObject({ halted: [] })
    await end('redriven/1', { redrives: 1 })
    expect(await sweep(runWith(new Topic()), INPUT, QUIET_S)).toMatchObject({ halted: [job.id] })
  })
})

describe('an open job that somebody locked', () => {
  test('is left alone, and halted by a later sweep once the lock is gone', async () => {
    const { slice, job } = await openedAgo(15)
    const client = await openLockClient(testContext(db.outside).env)
    expect(await tryAcquire(client, slice, 'a/1', LOCK_TTL_MS)).toBeNull()
    expect(await sweep(runWith(new Topic()), INPUT, QUIET_S)).toMatchObject({ halted: [], locked: [job.id] })
    await release(client, slice, 'a/1')
    expect(await sweep(runWith(new Topic()), INPUT, QUIET_S)).toMatchObject({ halted: [job.id] })
    client.disconnect()
  })

  test('does not hide the quiet ones behind it, however many stay locked', async () => {
    const client = await openLockClient(testContext(db.outside).env)
    const locked: number[] = []
    for (let number = 0; number <= SWEEP_JOBS_MAX; number += 1) {
      const { slice, job } = await openedAgo(60, `locked-${number}/1`)
      await tryAcquire(client, slice, `locked-${number}/1`, LOCK_TTL_MS)
      locked.push(job.id)
    }
    const { job } = await openedAgo(15)
    expect(await sweep(runWith(new Topic()), INPUT, QUIET_S)).toMatchObject({ halted: [job.id], locked })
    client.disconnect()
  })

  test('is left alone where Valkey does not say', async () => {
    const { job } = await openedAgo(15)
    const silent = { eval: () => Promise.reject(new Error('connection refused')) }
    const run = runWith(new Topic(), { lock: async () => silent })
    expect(await sweep(run, INPUT, QUIET_S)).toMatchObject({ halted: [], unknown: [job.id] })
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: job.fence, halted_at: null })
  })
})
