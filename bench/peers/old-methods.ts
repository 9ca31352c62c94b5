import { readFile } from 'node:fs/promises'
import { type Connection, createConnection, type ResultSetHeader } from 'mysql2/promise'
import type { Method, Target } from './method.ts'
import { start } from './tools.ts'

/**
 * What was used before Sharelock: plain statements from a Node program, each committed by itself. Run as a program it
 * is one.
 */

const LIMIT_ROWS = 10_000

const SLICE = "distributor_id = ? and settlement_month = ? and slot = 0 and isrc > '' and isrc < '['"

const deleteAtOnce = async (connection: Connection, { distributorId, month }: Target): Promise<void> => {
  await connection.query(`delete from share_ratio where ${SLICE}`, [distributorId, month])
}

const deleteByLimit = async (connection: Connection, { distributorId, month }: Target): Promise<void> => {
  for (let rows = LIMIT_ROWS; rows === LIMIT_ROWS; ) {
    const sql = `delete from share_ratio where ${SLICE} limit ${LIMIT_ROWS}`
    const [result] = await connection.query<ResultSetHeader>(sql, [distributorId, month])
    rows = result.affectedRows
  }
}

const insertBy =
  (size: number) =>
  async (connection: Connection, { files }: Target): Promise<void> => {
    const rows = (await readFile(files.one, 'latin1'))
      .trimEnd()
      .split('\n')
      .map((line) => line.split('\t'))
    for (let from = 0; from < rows.length; from += size)
      await connection.query('insert into share_ratio values ?', [rows.slice(from, from + size)])
  }

const WORKS = {
  'one DELETE': deleteAtOnce,
  'DELETE … LIMIT 10,000, repeated': deleteByLimit,
  'INSERT, a row each': insertBy(1),
  'INSERT, 250 rows each': insertBy(250),
  'INSERT, 10,000 rows each': insertBy(10_000),
} as const

const method = (name: keyof typeof WORKS, step: Method['step'], pace: Method['pace'], atomic = false): Method => ({
  ...{ name, step, pace, atomic },
  start: (target) => start(process.execPath, [import.meta.filename, name, JSON.stringify(target)]),
})

export const oldMethods: readonly Method[] = [
  method('one DELETE', 'delete', 'fast', true),
  method('DELETE … LIMIT 10,000, repeated', 'delete', 'fast'),
  method('INSERT, a row each', 'register', 'slow'),
  method('INSERT, 250 rows each', 'register', 'slowish'),
  method('INSERT, 10,000 rows each', 'register', 'fast'),
]

const run = async (name: keyof typeof WORKS, target: Target): Promise<void> => {
  const { host, port, user, database } = target
  const connection = await createConnection({ host, port, user, database })
  await WORKS[name](connection, target)
  await connection.end()
}

if (import.meta.main)
  await run(process.argv[2] as keyof typeof WORKS, JSON.parse(process.argv[3] ?? '{}') as Target).catch(
    (error: Error) => {
      // The message only: the error also carries the statement with all its rows.
      console.error(error.message)
      process.exit(1)
    },
  )
