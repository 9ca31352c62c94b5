import { readFile } from 'node:fs/promises'
import type { RowDataPacket } from 'mysql2/promise'
import { connect, type DatabaseAddress } from './connection.ts'
import { MIGRATIONS } from './migration-files.ts'

/** How long a migrator waits for another one: longer than any migration takes. */
const MIGRATION_WAIT_S = 120

const FOLDER = new URL('./migrations/', import.meta.url)

/** What a migrator did, or why it did nothing. */
export type MigrationReport = { readonly applied: string[]; readonly current: string; readonly newer: boolean }

/**
 * Applies the numbered migrations that the database does not have yet, in order, under a server-side lock so that two
 * migrators never run side by side. A database with newer migrations than this code knows is left alone: a rollback
 * calls the older migrator, and migrations expand before they contract.
 *
 * @param address of a user who may create tables, views and procedures, and the database itself
 */
export const migrate = async (address: DatabaseAddress): Promise<MigrationReport> => {
  const connection = await connect(address, { options: { database: undefined, multipleStatements: true } })
  try {
    await connection.query(`create database if not exists ??`, [address.DATABASE_NAME])
    await connection.query('use ??', [address.DATABASE_NAME])
    const lock = `sharelock.migrate.${address.DATABASE_NAME}`.slice(0, 64)
    const [[locked]] = await connection.query<RowDataPacket[]>('select get_lock(?, ?) as got', [lock, MIGRATION_WAIT_S])
    if (locked?.got !== 1) throw new Error(`Another migrator has been running for ${MIGRATION_WAIT_S} s; try again`)
    await connection.query(
      `create table if not exists schema_migration (
         name varchar(100) character set ascii collate ascii_bin not null primary key,
         applied_at timestamp(6) not null default current_timestamp(6))`,
    )
    const [rows] = await connection.query<RowDataPacket[]>('select name from schema_migration order by name')
    const known = rows.map((row) => String(row.name))
    const last = MIGRATIONS.at(-1) ?? ''
    const newer = known.some((name) => name > last)
    const applied: string[] = []
    for (const file of newer ? [] : MIGRATIONS.filter((name) => !known.includes(name))) {
      // MySQL commits every DDL statement by itself, so a migration is written to be repeatable or small enough to mend.
      await connection.query(await readFile(new URL(file, FOLDER), 'utf8'))
      await connection.query('insert into schema_migration (name) values (?)', [file])
      applied.push(file)
    }
    return { applied, current: newer ? (known.at(-1) ?? '') : last, newer }
  } finally {
    connection.destroy()
  }
}
