import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import { Failure, isFailure } from '../../contract/failures.ts'
import {
  MIGRATION_LOCK_WAIT_S,
  MIGRATION_PAUSE_S,
  MIGRATION_TRIES_MAX,
  MIGRATION_WAIT_S,
} from '../../contract/limits.ts'
import { type DatabaseAddress, openSession } from '../mysql/connection.ts'
import { databaseFailure, isWait } from '../mysql/failure.ts'
import { seeBlockers } from '../mysql/side-connection.ts'
import { WaitWatch } from '../mysql/wait-watch.ts'
import { MIGRATIONS } from './migration-files.ts'

const FOLDER = new URL('./migrations/', import.meta.url)

/** A look this often at who keeps a statement of a migration waiting. */
const LOOK_EVERY_MS = 1_500

/** What a migrator did, or why it did nothing. */
export type MigrationReport = { readonly applied: string[]; readonly current: string; readonly newer: boolean }

/** Runs one statement. */
type Step = (sql: string, values?: readonly (string | number)[]) => Promise<RowDataPacket[]>

/**
 * Applies the numbered migrations that the database does not have yet, in order, under a server-side lock so that two
 * migrators never run side by side. A database with newer migrations than this code knows is left alone: a rollback
 * calls the older migrator, and migrations expand before they contract.
 * See decisions.md, "A migration waits five seconds at a time".
 *
 * @param address of a user who may create tables, views and procedures, and the database itself
 * @throws DatabaseFailure, e.g. DatabaseBlocked with the session that has a table in an open transaction
 */
export const migrate = async (address: DatabaseAddress): Promise<MigrationReport> => {
  try {
    const { connection, session } = await openSession(address, {
      isOutside: true,
      settings: { lock_wait_timeout: String(MIGRATION_LOCK_WAIT_S) },
    })
    try {
      const look = () => seeBlockers(address, session)
      return await apply(address.DATABASE_NAME, (sql, values = []) => patiently(connection, look, sql, values))
    } finally {
      connection.destroy()
    }
  } catch (error) {
    throw databaseFailure(error)
  }
}

const apply = async (database: string, step: Step): Promise<MigrationReport> => {
  await step('create database if not exists ?? character set utf8mb4 collate utf8mb4_0900_ai_ci', [database])
  await step('use ??', [database])
  const lock = `sharelock.migrate.${database}`.slice(0, 64)
  const [locked] = await step('select get_lock(?, ?) as got', [lock, MIGRATION_WAIT_S])
  if (locked?.got !== 1)
    throw new Failure(
      'DatabaseBlocked',
      `Another migrator has been running for ${MIGRATION_WAIT_S} s; try again later.`,
    )
  await step(
    `create table if not exists schema_migration (
       name varchar(100) character set ascii collate ascii_bin not null primary key,
       applied_at timestamp(6) not null default current_timestamp(6)
     ) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_ai_ci`,
  )
  const known = (await step('select name from schema_migration order by name')).map((row) => String(row.name))
  const last = MIGRATIONS.at(-1) ?? ''
  const newer = known.some((name) => name > last)
  const applied: string[] = []
  for (const file of newer ? [] : MIGRATIONS.filter((name) => !known.includes(name))) {
    // MySQL commits every DDL statement by itself, so a migration is written to be repeatable or small enough to undo.
    for (const sql of statementsOf(await readFile(new URL(file, FOLDER), 'utf8'))) await step(sql)
    await step('insert into schema_migration (name) values (?)', [file])
    applied.push(file)
  }
  return { applied, current: newer ? (known.at(-1) ?? '') : last, newer }
}

/** The statements of a migration file: each ends with a semicolon before a blank line or the end, a procedure's do not. */
export const statementsOf = (text: string): string[] =>
  text
    .split(/;[ \t]*(?:\n[ \t]*(?:\n|$)|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')

/**
 * A statement that waits for a table queues everybody who comes after it behind itself. So it waits a few seconds only,
 * lets the queue pass, and tries again.
 */
const patiently = async (
  connection: Connection,
  look: ConstructorParameters<typeof WaitWatch>[0],
  sql: string,
  values: readonly (string | number)[],
): Promise<RowDataPacket[]> => {
  for (let attempt = 1; ; attempt += 1) {
    const watch = new WaitWatch(look, LOOK_EVERY_MS)
    try {
      const [rows] = await connection.query<RowDataPacket[]>(sql, [...values])
      return rows
    } catch (error) {
      const failure = databaseFailure(error, isWait(error) ? await watch.seen() : [])
      if (!isFailure(failure, 'DatabaseBlocked') || attempt >= MIGRATION_TRIES_MAX) throw failure
    } finally {
      watch.stop()
    }
    await sleep(MIGRATION_PAUSE_S * 1_000)
  }
}
