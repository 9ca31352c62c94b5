import { type Connection, createConnection } from 'mysql2/promise'
import { expect, test } from 'vitest'
import { monthDate } from '../../../functions/contract/words.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { loadRows, showJob } from '../../support/rows.ts'
import { headOf, opening, stagedOf, testContext } from '../../support/test-context.ts'
import { linesOf, newSlice, useTestDatabase } from '../../support/test-database.ts'

/* What require_settled_slice holds is what the transaction reads behind it, though it waited for a switch. */
const db = useTestDatabase('required_set')

const connect = async (): Promise<Connection> => {
  const { DATABASE_HOST: host, DATABASE_PORT: port, DATABASE_USER: user, DATABASE_PASSWORD: password = '' } = db.address
  const connection = await createConnection({ host, port, user, password, database: db.address.DATABASE_NAME })
  await connection.query('set session transaction_isolation = "REPEATABLE-READ"')
  return connection
}

test.each([
  ['the set before', 1],
  ['none', null],
] as const)('a program that waits for a switch from %s reads the set that it requires', async (_, before) => {
  const slice = await newSlice(db.outside)
  const run = testContext(db.connect())
  const first = await openJob(run, opening(slice, 'a/1', null))
  await loadRows(db.outside, slice, linesOf(0, 2))
  await showJob(db.outside, first.id)
  const second = await openJob(run, opening(slice, 'b/2', headOf(first), { staged: stagedOf('b') }))
  await loadRows(db.outside, { ...slice, slot: 1 }, linesOf(0, 1))
  const key = [slice.distributorId, monthDate(slice.month)]
  if (before === null)
    await db.outside.change(
      'update active_set set slot = null, job_id = null where distributor_id = ? and settlement_month = ?',
      key,
    )
  const [switching, reader] = [await connect(), await connect()]
  await switching.query('start transaction')
  await switching.query(
    'update active_set set slot = 1, job_id = ? where distributor_id = ? and settlement_month = ?',
    [second.id, ...key],
  )
  await reader.query('start transaction')
  const required = reader.query('call require_settled_slice(?, ?)', [slice.distributor, slice.month])
  const waits = () =>
    db.outside.rows(
      `select 1 from performance_schema.data_lock_waits w join performance_schema.threads t
         on t.thread_id = w.requesting_thread_id where t.processlist_id = ?`,
      [reader.threadId],
    )
  await expect.poll(waits, { timeout: 10_000 }).not.toEqual([])
  await switching.query('commit')
  await required
  const [read] = await reader.query(
    'select distinct job_id from settled_share_ratio where distributor_id = ? and settlement_month = ?',
    key,
  )
  expect(read).toEqual([{ job_id: second.id }])
  switching.destroy()
  reader.destroy()
})
