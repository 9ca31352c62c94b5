import { expect } from 'vitest'
import { sliceFingerprint } from '../../local/fingerprint.ts'
import { NO_ROWS, type ShareFile } from './share-file.ts'
import type { TestSlice, TestStack } from './test-stack.ts'

/*
 * What must hold for a slice whatever happened to it, asked in SQL and Valkey commands of our own: no line here is shared
 * with the code under test.
 */

export type JobFacts = {
  readonly id: number
  readonly state: string
  readonly fence: number
  readonly execution: string
  readonly lock_token: string | null
  readonly source_digest: string
  readonly source_rows: number
  readonly delete_plans: number
  readonly halted_at: string | null
  readonly halt_error: string | null
  readonly halt_cause: string | null
  readonly closed_at: string | null
  readonly slot: number
  readonly reuses_set: number
  readonly withdrawn_at: string | null
}

const LOCK_TTL_MS = 300_000

/** The slice's jobs, newest first. */
export const jobsOf = async (on: TestStack, { distributor, month }: TestSlice): Promise<JobFacts[]> =>
  on.rows<JobFacts>(
    `select j.* from job j join distributor d on d.id = j.distributor_id
     where d.code = ? and j.settlement_month = ? order by j.fence desc`,
    [distributor, `${month}-01`],
  )

const newestJobOf = async (on: TestStack, slice: TestSlice): Promise<JobFacts> => {
  const [newest] = await jobsOf(on, slice)
  if (newest === undefined) throw new Error(`${slice.distributor} ${slice.month} never had a job`)
  return newest
}

export const fingerprintOf = async (on: TestStack, { distributor, month }: TestSlice): Promise<string> =>
  (await sliceFingerprint(on.stack.database.masterAddress, distributor, month)).toString()

/** Rows in the slot that the slice's newest job writes, or that an older system filled. */
export const rowsOf = async (on: TestStack, { distributor, month }: TestSlice): Promise<number> => {
  const [row] = await on.rows<{ count: number }>(
    `select count(*) as count from share_ratio s join distributor d on d.id = s.distributor_id
     where d.code = ? and s.settlement_month = ? and s.isrc > '' and s.isrc < '[' and s.slot = coalesce((select j.slot from job j where j.distributor_id = d.id and j.settlement_month = s.settlement_month
       order by j.fence desc limit 1), 0)`,
    [distributor, `${month}-01`],
  )
  return row?.count ?? 0
}

/** What the settlement programs see. */
export const settledRowsOf = async (on: TestStack, { distributor, month }: TestSlice): Promise<number> => {
  const [row] = await on.rows<{ count: number }>(
    'select count(*) as count from settled_share_ratio where distributor = ? and settlement_month = ?',
    [distributor, `${month}-01`],
  )
  return row?.count ?? 0
}

/** The holder's token and its remaining time; null where the lock is free. */
export const lockOf = async (
  on: TestStack,
  slice: TestSlice,
): Promise<{ token: string; remainingMs: number } | null> => {
  const token = await on.valkey.get(on.lockKey(slice))
  return token === null ? null : { token, remainingMs: await on.valkey.pttl(on.lockKey(slice)) }
}

/** No mark without its effect and no effect without its mark, in whatever state the slice's newest job is. */
export const expectLedgerConsistent = async (on: TestStack, slice: TestSlice): Promise<void> => {
  const job = await newestJobOf(on, slice)
  // Shown again as it lay in its slot: no chunk wrote it.
  if (job.state === 'REGISTERED' && job.reuses_set === 1) return
  const present = await rowsOf(on, slice)
  const [register] = await on.rows<{ marked: string | null; chunks: number; done: number }>(
    `select sum(if(marked_at is null, 0, row_count)) as marked, count(*) as chunks, count(marked_at) as done
     from job_chunk where job_id = ? and phase = 'register'`,
    [job.id],
  )
  if (job.state === 'DELETING') {
    expect(register?.chunks, 'no register chunk is planned before DELETED').toBe(0)
    const [left] = await on.rows<{ count: number }>(
      `select count(*) as count from job_chunk c join job j on j.id = c.job_id
       join share_ratio s on s.distributor_id = j.distributor_id and s.settlement_month = j.settlement_month
         and s.slot = j.slot and s.isrc > '' and s.isrc < '[' and s.isrc >= c.from_isrc and (c.before_isrc is null or s.isrc < c.before_isrc)
       where c.job_id = ? and c.phase = 'delete' and c.marked_at is not null`,
      [job.id],
    )
    expect(left?.count, 'a marked delete range is empty').toBe(0)
    return
  }
  const [unmarked] = await on.rows<{ count: number }>(
    `select count(*) as count from job_chunk where job_id = ? and phase = 'delete' and marked_at is null`,
    [job.id],
  )
  expect(unmarked?.count, 'every delete chunk is marked from DELETED on').toBe(0)
  expect(present, 'the rows are those of the marked chunks').toBe(Number(register?.marked ?? 0))
  if (job.state === 'REGISTERED') expect(register?.done, 'every chunk is marked').toBe(register?.chunks)
}

const expectOneOpenJobAtMost = async (on: TestStack, slice: TestSlice): Promise<void> => {
  const jobs = await jobsOf(on, slice)
  const open = jobs.filter((job) => job.state !== 'REGISTERED' && job.closed_at === null)
  expect(open.length, 'open jobs of the slice').toBeLessThanOrEqual(1)
  if (open.length === 1) expect(open[0]?.id, 'the open job is the newest').toBe(jobs[0]?.id)
  expect(new Set(jobs.map((job) => job.fence)).size, 'fences never repeat').toBe(jobs.length)
}

const eventsOf = (on: TestStack, job: number) =>
  on.rows<{ event_id: string; type: string; published_at: string | null }>(
    'select event_id, type, published_at from outbox where job_id = ? order by id',
    [job],
  )

/** The slice is replaced: it holds the file to the last row, readers see it, nothing is left over. */
export const expectSettled = async (on: TestStack, slice: TestSlice, file: ShareFile): Promise<JobFacts> => {
  const job = await newestJobOf(on, slice)
  expect(job).toMatchObject({ state: 'REGISTERED', halted_at: null, closed_at: null, source_rows: file.rows })
  expect(await fingerprintOf(on, slice)).toBe(file.fingerprint)
  expect(await settledRowsOf(on, slice)).toBe(file.rows)
  await expectOneOpenJobAtMost(on, slice)
  await expectLedgerConsistent(on, slice)
  const registered = (await eventsOf(on, job.id)).filter((event) => event.type === 'JobRegistered')
  expect(registered, 'one event says that the job is REGISTERED').toHaveLength(1)
  expect(await lockOf(on, slice), 'the lock is free').toBeNull()
  return job
}

/** The rows of the set that is shown, as its job promised them; 0 where none is. Never the newest job's, which stopped. */
const shownRowsOf = async (on: TestStack, slice: TestSlice): Promise<number> => {
  const newest = await newestJobOf(on, slice)
  const [shown] = await on.rows<{ job: number; rows: number }>(
    `select j.id as job, j.source_rows as \`rows\` from active_set a join job j on j.id = a.job_id
     join distributor d on d.id = a.distributor_id where d.code = ? and a.settlement_month = ?`,
    [slice.distributor, `${slice.month}-01`],
  )
  expect(shown?.job, 'the set of a job that stopped is not shown').not.toBe(newest.id)
  return shown?.rows ?? 0
}

/** The job stopped: it says where and why, nobody may write, nobody reads a half, and the lock is free. */
export const expectHalted = async (
  on: TestStack,
  slice: TestSlice,
  state: string,
  error?: string,
): Promise<JobFacts> => {
  const job = await newestJobOf(on, slice)
  expect(job).toMatchObject({ state, closed_at: null, lock_token: null, halted_at: expect.any(String) })
  if (error !== undefined) expect(job.halt_error).toBe(error)
  expect(await settledRowsOf(on, slice), 'readers see the set before, whole, or none').toBe(
    await shownRowsOf(on, slice),
  )
  if (state === 'DELETED') expect(await rowsOf(on, slice), 'the slot is empty').toBe(0)
  await expectOneOpenJobAtMost(on, slice)
  await expectLedgerConsistent(on, slice)
  expect((await eventsOf(on, job.id)).at(-1)?.type, 'an event says that the job halted').toBe('JobHalted')
  expect(await lockOf(on, slice), 'the lock is free').toBeNull()
  return job
}

/** Nothing happened to the slice: rows as they were, and no open job. */
export const expectUntouched = async (on: TestStack, slice: TestSlice, file?: ShareFile): Promise<void> => {
  expect(await fingerprintOf(on, slice)).toBe(file?.fingerprint ?? NO_ROWS)
  expect(await settledRowsOf(on, slice)).toBe(file?.rows ?? 0)
  expect((await jobsOf(on, slice)).filter((job) => job.state !== 'REGISTERED' && job.closed_at === null)).toEqual([])
  expect(await lockOf(on, slice), 'the lock is free').toBeNull()
}

/** A lock that is held has an end. */
export const expectLockEnds = async (on: TestStack, slice: TestSlice): Promise<void> => {
  const lock = await lockOf(on, slice)
  if (lock === null) return
  expect(lock.remainingMs).toBeGreaterThan(0)
  expect(lock.remainingMs).toBeLessThanOrEqual(LOCK_TTL_MS)
}
