import { describe, expect, test } from 'vitest'
import { SLICES_SHOWN_MAX } from '../../../../functions/contract/support-limits.ts'
import { openJob } from '../../../../functions/job/open-job.ts'
import { slices } from '../../../../functions/job/operator/inspect/slices.ts'
import { auditLines } from '../../../../functions/store/audit.ts'
import { newestJobs, openJobs } from '../../../../functions/store/job/slice-lines.ts'
import type { Database } from '../../../../functions/store/mysql/database.ts'
import { reading } from '../../../../functions/store/mysql/transaction.ts'
import { SYNC_PAYLOAD_BYTES_MAX } from '../../../../local/lambda/function.ts'
import { opening, testContext } from '../../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../../support/test-database.ts'

const db = useTestDatabase('lines')

/** `jobs` jobs of each slice, the newest of every hundredth distributor open; `texts` as long as they may be. */
const fill = async (distributors: number, from: string, months: number, jobs: number): Promise<void> => {
  const { outside } = db
  await outside.change('set session cte_max_recursion_depth = 100000')
  await outside.change(
    `insert ignore into distributor (code, name, sum_rule, party_scheme)
     with recursive n (i) as (select 1 union all select i + 1 from n where i < ?)
     select concat('DISTRIBUTOR-OF-A-LONG-CODE-', lpad(i, 5, '0')), 'x', 'exact', 'opaque' from n`,
    [distributors],
  )
  await outside.change(
    `insert into job (distributor_id, settlement_month, state, fence, execution, requested_by, source_digest, source_rows,
                      source_share_sum, registered_at, halted_at, halt_error)
     with recursive n (i) as (select 1 union all select i + 1 from n where i < ?),
          m (k) as (select 0 union all select k + 1 from m where k < ? - 1)
     select d.id, cast(? as date) + interval m.k month,
            if(n.i = ? and d.id % 100 = 0, 'REGISTERING', 'REGISTERED'), n.i,
            concat('arn:aws:states:ap-northeast-2:123456789012:execution:', repeat('m', 80), ':', repeat('e', 80)),
            repeat('r', 200), repeat('0', 64), 30000000, 1, current_timestamp(6), current_timestamp(6), repeat('E', 60)
     from distributor d cross join m cross join n`,
    [jobs, months, from, jobs],
    { timeoutMs: 120_000 },
  )
  await outside.change('analyze table job, distributor')
}

/** Rows that MySQL reads from indexes and tables for `work`. */
const readBy = async (work: (database: Database) => Promise<unknown>): Promise<number> => {
  const database = db.connect()
  await database.change('flush status')
  await work(database)
  const [read] = await database.rows<{ count: string }>(
    `select sum(variable_value) as count from performance_schema.session_status
     where variable_name in ('Handler_read_next', 'Handler_read_prev', 'Handler_read_rnd_next')`,
  )
  return Number(read?.count)
}

describe('the newest job of each slice', () => {
  test('is found without reading the jobs before it', async () => {
    await fill(200, '2040-01-01', 4, 20)
    const range = { from: '2040-02', to: '2040-03' }
    const jobs = await newestJobs(db.outside, range, 1_000)
    expect(jobs).toHaveLength(400)
    expect(new Set(jobs.map(({ fence }) => fence))).toEqual(new Set([20]))
    // Each slice is passed on two or three times, through temporary tables; its 20 jobs are not read.
    expect(await readBy((database) => newestJobs(database, range, 1_000))).toBeLessThan(400 * 4)
  })

  test('is answered for as many slices as fit into a reply of Lambda, all texts as long as they may be', async () => {
    await fill(1_000, '2042-01-01', 8, 1)
    const run = testContext(db.connect())
    const lines = await slices(run, { from: '2042-01', to: '2042-08' })
    expect(lines).toHaveLength(SLICES_SHOWN_MAX)
    expect(JSON.stringify(lines).length).toBeLessThan(SYNC_PAYLOAD_BYTES_MAX)
  })

  test('is refused for more of them: a list with gaps would mislead', async () => {
    const slice = await newSlice(db.outside, '2042-08')
    await openJob(testContext(db.connect()), opening(slice, 'a/1', null))
    await expect(slices(testContext(db.connect()), { from: '2042-01', to: '2042-08' })).rejects.toMatchObject({
      name: 'InvalidInput',
      message: expect.stringContaining('ask for fewer months'),
    })
  })
})

test('open jobs are found among all others by their key', async () => {
  const open = await openJobs(db.outside, 500)
  expect(open.length).toBeGreaterThan(5)
  expect(new Set(open.map(({ state }) => state))).toEqual(new Set(['REGISTERING', 'DELETING']))
  expect(await readBy((database) => openJobs(database, 500))).toBeLessThan(open.length * 5)
})

test('the newest audit lines are read backwards from their key, not sorted out of all', async () => {
  await db.outside.change(
    `insert into audit (caller, action, distributor, settlement_month, why, detail)
     with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)
     select 'kim', 'stop', concat('D', i % 100), '2026-01-01' + interval (i % 40) month, '', '{}' from n`,
  )
  await db.outside.change('analyze table audit')
  for (const [filter, most] of [
    [{}, 15],
    [{ month: '2026-03' }, 15],
    [{ distributor: 'D7', month: '2026-08' }, 15],
    // A distributor's lines lie by month: all of its own are read, and nobody else's.
    [{ distributor: 'D7' }, 250],
  ] as const)
    expect(await readBy((database) => auditLines(database, { ...filter, limit: 10 }))).toBeLessThan(most)
})

test('a report can change nothing, and all of it sees one moment', async () => {
  const slice = await newSlice(db.outside)
  const reader = db.connect()
  const write = 'update distributor set name = ? where id = ?'
  await expect(reading(reader, () => reader.change(write, ['x', slice.distributorId]))).rejects.toThrow(/READ ONLY/)
  const nameOf = async () => {
    const [row] = await reader.rows<{ name: string }>('select name from distributor where id = ?', [
      slice.distributorId,
    ])
    return row?.name
  }
  const [before, during] = await reading(reader, async () => {
    const first = await nameOf()
    await db.outside.change(write, ['renamed', slice.distributorId])
    return [first, await nameOf()]
  })
  expect(during).toBe(before)
  expect(await nameOf()).toBe('renamed')
})
