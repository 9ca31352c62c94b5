import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { lockKey } from '../../functions/contract/words.ts'
import { lockPrefix } from '../../infra/config/stores.ts'
import type { Account } from './account.ts'
import type { Place } from './place.ts'
import { STAGE } from './place.ts'

export const DISTRIBUTOR = 'SMOKE'

/** What the steps share: the place, its account, and what the deployed stacks told of themselves. */
export type Run = {
  readonly place: Place
  readonly account: Account
  readonly source: string
  readonly bucket: string
  readonly jobMachine: string
  readonly dispatchMachine: string
}

export const expectEqual = (what: string, actual: unknown, expected: unknown): void => {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== should) throw new Error(`${what} is ${is} and should be ${should}`)
}

/** A file of two rows for each of so many recordings. */
export const fileOf = (party: string, recordings = 50): string => {
  const lines = Array.from({ length: recordings }, (_, index) => {
    const isrc = `KRA99${String(index).padStart(7, '0')}`
    return `${isrc},PERFORMANCE,KOMCA.1,75\n${isrc},PERFORMANCE,${party},25\n`
  })
  return `isrc,right_type,party_id,share\n${lines.join('')}`
}

/** Asks the database as its master, by no door. */
export const ask = async ({ database }: Place, sql: string, values: unknown[] = []): Promise<RowDataPacket[]> => {
  const { host, port, master, name } = database
  const connection = await createConnection({ host, port, ...master, database: name, dateStrings: true })
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql, values)
    return rows
  } finally {
    connection.destroy()
  }
}

/** Rows that settlement programs read of a month. */
export const settledRows = async (place: Place, month: string): Promise<number> => {
  const [row] = await ask(place, 'select count(*) as n from settled_share_ratio where settlement_month = ?', [
    `${month}-01`,
  ])
  return Number(row?.n)
}

/** The key that a run of this slice takes in Valkey. */
export const lockOf = (month: string): string => `${lockPrefix(STAGE)}${lockKey({ distributor: DISTRIBUTOR, month })}`
