import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, inject } from 'vitest'
import type { Slice } from '../../functions/contract/words.ts'
import { findDistributor, putDistributor } from '../../functions/store/distributor.ts'
import { Invocation } from '../../functions/store/invocation/invocation.ts'
import type { DatabaseAddress } from '../../functions/store/mysql/connection.ts'
import { Database } from '../../functions/store/mysql/database.ts'
import { migrate } from '../../functions/store/schema/migrate.ts'

/** A database of this test file alone. */
export type TestDatabase = {
  readonly address: DatabaseAddress
  /** The test's own view of the data; never handed to code under test. */
  readonly outside: Database
  /** One more connection, as another worker would have it, with this much time left or no limit. */
  readonly connect: (leftMs?: number) => Database
}

/**
 * Migrates a new database before the file's tests and drops it after them. Data of a failed file is kept: its name is
 * printed, and it goes with the server's data folder.
 */
export const useTestDatabase = (name: string): TestDatabase => {
  const mysql = inject('mysql')
  const address: DatabaseAddress = {
    DATABASE_HOST: mysql.host,
    DATABASE_PORT: mysql.port,
    DATABASE_NAME: `${name}_${randomBytes(4).toString('hex')}`,
    DATABASE_USER: mysql.user,
    DATABASE_PASSWORD: mysql.password,
    DATABASE_AUTH: 'password',
    DATABASE_TLS: 'off',
    AWS_REGION: 'ap-northeast-2',
  }
  const outside = new Database(address)
  const opened: Database[] = [outside]
  beforeAll(async () => {
    await migrate(address)
  })
  let failed = false
  let openedBefore = 0
  beforeEach(() => {
    openedBefore = opened.length
  })
  afterEach(({ task }) => {
    failed ||= task.result?.state === 'fail'
    // The server has 200 connections for all files at once. One that is used again opens itself.
    for (const database of opened.splice(openedBefore)) database.discard()
  })
  afterAll(async () => {
    if (failed) console.error(`kept for inspection: database ${address.DATABASE_NAME} on port ${address.DATABASE_PORT}`)
    else await outside.change(`drop database \`${address.DATABASE_NAME}\``)
    await Promise.all(opened.map((database) => database.close()))
  })
  return {
    address,
    outside,
    connect: (leftMs) => {
      const database = new Database(address, new Invocation(leftMs))
      opened.push(database)
      return database
    },
  }
}

/** Adds a distributor under the mildest rules, as most tests want one. */
export const addDistributor = (database: Database, code: string, active = true): Promise<void> =>
  putDistributor(database, { code, name: code, active, sumRule: 'at-most', partyScheme: 'opaque' })

/** Registers a distributor of a new code and names its slice of a month. */
export const newSlice = async (database: Database, month = '2026-10'): Promise<Slice> => {
  const code = `D${randomBytes(4).toString('hex')}`
  await addDistributor(database, code)
  const { id } = await findDistributor(database, code)
  return { distributorId: id, distributor: code, month }
}

/** Lines of a staged object: `tracks` tracks from `first` on, four parties each, 25 % a party. */
export const linesOf = (first: number, tracks: number): Buffer => {
  const lines: string[] = []
  for (let track = first; track < first + tracks; track += 1)
    for (let party = 1; party <= 4; party += 1)
      lines.push(`KRA00${String(track).padStart(7, '0')}\tPERFORMANCE\tP${party}\t25.000000\n`)
  return Buffer.from(lines.join(''))
}
