import { type Connection, createConnection } from 'mysql2/promise'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { monthDate, type Slice } from '../../../functions/contract/words.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { hideSet } from '../../../functions/store/active-set.ts'
import type { Database } from '../../../functions/store/mysql/database.ts'
import { transaction } from '../../../functions/store/mysql/transaction.ts'
import { ensureBorders } from '../../../functions/store/share-ratio.ts'
import { loadRows, showJob } from '../../support/rows.ts'
import { headOf, opening, stagedOf, testContext } from '../../support/test-context.ts'
import { linesOf, newSlice, useTestDatabase } from '../../support/test-database.ts'

/*
 * A settlement program reads a month and keeps its transaction open. Whatever it read with, nothing waits for it but the switch
 * of that month: eight attempts, each with one second to wait.
 */

const db = useTestDatabase('reader_locks')
const run = () => testContext(db.connect())

const OF_SLICE = 'where distributor = ? and settlement_month = ?'

/** How programs read, and under which levels the set stays held until they commit. */
const KINDS = [
  { kind: 'select', sql: `select share from settled_share_ratio ${OF_SLICE}`, holds: [] },
  {
    kind: 'select ... for share',
    sql: `select share from settled_share_ratio ${OF_SLICE} for share`,
    holds: ['read committed', 'repeatable read'],
  },
  {
    kind: 'insert ... select',
    sql: `insert into paid (isrc, share) select isrc, share from settled_share_ratio ${OF_SLICE}`,
    holds: ['repeatable read'],
  },
  {
    kind: 'update ... join',
    sql: `update paid p join settled_share_ratio s on s.isrc = p.isrc set p.share = s.share ${OF_SLICE}`,
    holds: ['read committed', 'repeatable read'],
  },
  { kind: 'call', sql: 'call require_settled_slice(?, left(?, 7))', holds: ['read committed', 'repeatable read'] },
] as const
const LEVELS = ['read committed', 'repeatable read'] as const

let before: Slice
let own: Slice
let next: Slice

/** A month with a set that is read, and one that a second job is registering beside it. */
const replaced = async (slice: Slice): Promise<Slice> => {
  const first = await openJob(run(), opening(slice, 'a/1', null))
  await loadRows(db.outside, slice, linesOf(100, 20))
  await showJob(db.outside, first.id)
  await openJob(run(), opening(slice, 'b/2', headOf(first), { staged: stagedOf('b') }))
  await loadRows(db.outside, { ...slice, slot: 1 }, linesOf(100, 20))
  return slice
}

beforeEach(async () => {
  await db.outside.change('create table if not exists paid (isrc char(12), share decimal(9, 6))')
  const { distributorId, distributor } = await newSlice(db.outside)
  const of = (month: string): Slice => ({ distributorId, distributor, month })
  before = await replaced(of('2026-06'))
  own = await replaced(of('2026-08'))
  next = await replaced(of('2026-10'))
})

/** One more worker, that waits for a lock for one second at most. */
const worker = async (): Promise<Database> => {
  const database = db.connect()
  await database.change('set session innodb_lock_wait_timeout = 1')
  return database
}

const hide = async (slice: Slice) => await transaction(db.connect(), (tx) => hideSet(tx, slice))

/** A settlement program's own connection, with none of our sessions' marks. */
const readers: Connection[] = []
const openReader = async (): Promise<Connection> => {
  const { DATABASE_HOST: host, DATABASE_PORT: port, DATABASE_NAME: database, DATABASE_USER: user } = db.address
  const reader = await createConnection({ host, port, database, user, password: db.address.DATABASE_PASSWORD ?? '' })
  readers.push(reader)
  return reader
}
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.end()
})

describe.each(LEVELS)('beside a reader under %s', (level) => {
  test.each(KINDS)(
    'that keeps open its $kind, nothing waits but the switch of its own month',
    async ({ sql, holds }) => {
      const reader = await openReader()
      await reader.query(`set session transaction isolation level ${level}`)
      await reader.query('begin')
      await reader.query(sql, [own.distributor, monthDate(own.month)])

      // The standby slot of its month: the first track, the last track, all of it.
      const standby = { ...own, slot: 1 } as const
      await loadRows(await worker(), standby, linesOf(0, 1))
      await loadRows(await worker(), standby, linesOf(9_999_999, 1))
      const { affectedRows } = await (await worker()).change(
        `delete from share_ratio where distributor_id = ? and settlement_month = ? and slot = 1 and isrc > '' and isrc < '['`,
        [own.distributorId, monthDate(own.month)],
      )
      expect(affectedRows).toBe(88)
      // The months beside it, on the sides that touch it, and one between that is new.
      await loadRows(await worker(), { ...next, slot: 0 }, linesOf(0, 1))
      await loadRows(await worker(), { ...before, slot: 1 }, linesOf(9_999_999, 1))
      for (const month of ['2026-07', '2026-09']) {
        const between = { ...own, month }
        await transaction(await worker(), (tx) => ensureBorders(tx, between))
        await loadRows(await worker(), between, linesOf(0, 1))
      }
      await hide(next)
      await hide(before)
      if ((holds as readonly string[]).includes(level)) {
        const user = /A reader keeps the set that is shown now: session \d+ of \w+@\S+ holds it/
        await expect(hide(own)).rejects.toMatchObject({ name: 'ReadersInTheWay', message: expect.stringMatching(user) })
        await reader.query('commit')
      }
      await hide(own)
    },
  )
})
