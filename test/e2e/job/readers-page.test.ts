import { readFileSync } from 'node:fs'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { holdTask, within } from '../../support/faults.ts'
import { jobsOf } from '../../support/invariants.ts'
import { connectOutside } from '../../support/outside.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'

/* The SQL of docs/readers.md, word for word, as the user that the page makes, beside a job that replaces the month. */
const on = useStack()

const OLD = shareFile(150, 41)
const NEW = shareFile(200, 42)
const SLICE = { distributor: 'ARIA', month: '2026-10' }

const PAGE = readFileSync('docs/readers.md', 'utf8')
const BLOCKS = [...PAGE.matchAll(/```sql\n(.+?)```/gs)].map(([, sql = '']) => sql)
const statementsIn = (block: string): string[] =>
  block
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')

const USER = BLOCKS.filter((block) => block.startsWith('create user'))
const READS = BLOCKS.filter((block) => !block.startsWith('create user'))

let owner: Connection
let release: () => Promise<void>

beforeAll(async () => {
  owner = await connectOutside(on().stack)
  await owner.query(
    `insert into distributor (code, name, sum_rule, party_scheme) values ('ARIA', 'Aria', 'at-most', 'opaque')
     on duplicate key update active = true`,
  )
  for (const statement of USER.flatMap(statementsIn)) await owner.query(statement)
  await owner.query('create table payout (job_id bigint unsigned, party_id varchar(20), share decimal(9, 6))')
  await owner.query(`grant select, insert on payout to 'settlement'@'%'`)
  expect(await on().run({ ...SLICE, source: await on().upload(OLD) })).toMatchObject({ status: 'SUCCEEDED' })
  const held = holdTask(on(), 'MarkRegistered', SLICE)
  const arn = await on().start({ ...SLICE, source: await on().upload(NEW) })
  await within(on(), arn, held.reached)
  release = async () => {
    held.release()
    expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  }
})

afterAll(async () => {
  await owner.query(`drop user if exists 'settlement'@'%'`)
  await owner.end()
})

const asReader = async (): Promise<Connection> => {
  const { host, port, name: database } = on().stack.database
  const [, user = '', password = ''] = /'(\w+)'@'%' identified by '([^']+)'/.exec(PAGE) ?? []
  return await createConnection({ host, port, database, user, password })
}

/** Runs a block. @returns the rows of each statement that has any */
const runBlock = async (reader: Connection, block: string): Promise<RowDataPacket[][]> => {
  const found: RowDataPacket[][] = []
  for (const statement of statementsIn(block)) {
    const [rows] = await reader.query(statement)
    if (Array.isArray(rows) && statement.startsWith('select')) found.push(rows as RowDataPacket[])
  }
  return found
}

const numberIn = (row: RowDataPacket | undefined, name: string): number => Number(row?.[name])

describe.each(['read committed', 'repeatable read'])('the page under %s', (level) => {
  test('reads the whole set before, beside the job that replaces it', async () => {
    const [, old] = await jobsOf(on(), SLICE)
    const reader = await asReader()
    await reader.query(`set session transaction isolation level ${level}`)
    await owner.query('delete from payout')
    const [one = '', several = '', copy = '', noted = '', kept = ''] = READS
    const [rows = []] = await runBlock(reader, one)
    expect(rows).toHaveLength(OLD.rows)
    expect(new Set(rows.map(({ job_id: job }) => job))).toEqual(new Set([old?.id]))
    const [[total] = [], parties = []] = await runBlock(reader, several)
    expect(numberIn(total, 'count(*)')).toBe(OLD.rows)
    const sum = parties.reduce((so, row) => so + numberIn(row, 'sum(share)'), 0)
    expect(sum).toBeCloseTo(numberIn(total, 'sum(share)'), 4)
    await runBlock(reader, copy)
    const [payout] = await owner.query<RowDataPacket[]>('select job_id, count(*) as count from payout group by job_id')
    expect(payout).toEqual([{ job_id: old?.id, count: OLD.rows }])
    const [[status] = []] = await runBlock(reader, noted)
    expect(status).toMatchObject({ read_job_id: old?.id, row_count: OLD.rows })
    const [[again] = []] = await runBlock(reader, kept)
    expect(numberIn(again, 'count(*)')).toBe(OLD.rows)
    await reader.end()
  })
})

test('all blocks of the page are run, and its user may do nothing else', async () => {
  expect(USER).toHaveLength(1)
  expect(READS).toHaveLength(5)
  const reader = await asReader()
  for (const table of ['share_ratio', 'job', 'active_set', 'distributor'])
    await expect(reader.query(`select 1 from ${table}`), table).rejects.toThrow(/denied/)
  await expect(reader.query('delete from settled_share_ratio')).rejects.toThrow(/denied/)
  await reader.end()
})

test('a program that noted its job reads that set again behind the switch', async () => {
  const [, old] = await jobsOf(on(), SLICE)
  await release()
  const reader = await asReader()
  const count = async (view: string): Promise<number> => {
    const [[row]] = await reader.query<RowDataPacket[]>(`select count(*) as count from ${view} where job_id = ?`, [
      old?.id,
    ])
    return numberIn(row, 'count')
  }
  expect(await count('settled_share_ratio')).toBe(0)
  expect(await count('kept_share_ratio')).toBe(OLD.rows)
  await reader.end()
})

test('the statuses of the page are those that the view can have', () => {
  const named = [...PAGE.matchAll(/^\| `([^`]+)` \| (?:the set|none)/gm)].map(([, status]) => status)
  const view = readFileSync('functions/store/schema/migrations/002-readers.sql', 'utf8')
  const told = [...view.matchAll(/then (?:concat\()?'([^']+)'|else '([^']+)' end/g)].map(
    ([, one, other]) => one ?? other ?? '',
  )
  const whole = (status: string) => (status.endsWith('of job ') ? `${status}N is read` : status)
  expect([...named].sort()).toEqual(told.map(whole).sort())
})
