import { readFile } from 'node:fs/promises'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect } from '../../../../functions/store/mysql/connection.ts'
import { migrate, statementsOf } from '../../../../functions/store/schema/migrate.ts'
import { MIGRATIONS } from '../../../../functions/store/schema/migration-files.ts'
import { useTestDatabase } from '../../../support/test-database.ts'

/* A migrator that ends anywhere: its file is not recorded, so the next one runs it again from its first statement. */
const db = useTestDatabase('cut')
const address = { ...db.address, DATABASE_NAME: `${db.address.DATABASE_NAME}_again` }

let connection: Connection
let files: { name: string; statements: string[] }[]
let whole: unknown
beforeAll(async () => {
  connection = await connect(db.address)
  files = await Promise.all(
    MIGRATIONS.map(async (name) => {
      const url = new URL(`../../../../functions/store/schema/migrations/${name}`, import.meta.url)
      return { name, statements: statementsOf(await readFile(url, 'utf8')) }
    }),
  )
  whole = await schemaOf(db.address.DATABASE_NAME)
})
afterAll(async () => {
  await connection.query('drop database if exists ??', [address.DATABASE_NAME])
  connection.destroy()
})

/** Tables, columns, keys, views and procedures by their definitions. */
const schemaOf = async (schema: string): Promise<unknown> => {
  const rows = async (sql: string) => {
    const [found] = await connection.query<RowDataPacket[]>(sql, [schema])
    return JSON.parse(JSON.stringify(found).replaceAll(`\`${schema}\`.`, '').replaceAll(`"${schema}"`, '""'))
  }
  return [
    await rows(`select table_name, column_name, column_type, is_nullable, column_default, extra
      from information_schema.columns where table_schema = ? order by table_name, ordinal_position`),
    await rows(`select table_name, index_name, seq_in_index, column_name, non_unique
      from information_schema.statistics where table_schema = ? order by table_name, index_name, seq_in_index`),
    await rows(`select table_name, constraint_name, constraint_type
      from information_schema.table_constraints where table_schema = ? order by table_name, constraint_name`),
    await rows(
      'select table_name, view_definition from information_schema.views where table_schema = ? order by table_name',
    ),
    await rows(`select routine_name, routine_type, routine_definition
      from information_schema.routines where routine_schema = ? order by routine_name`),
  ]
}

/** A database as a migrator left it that ended after `done` statements of its file. */
const cutAfter = async (file: string, done: number): Promise<void> => {
  await connection.query('drop database if exists ??', [address.DATABASE_NAME])
  await connection.query('create database ??', [address.DATABASE_NAME])
  await connection.query('use ??', [address.DATABASE_NAME])
  await connection.query('create table schema_migration like ??', [`${db.address.DATABASE_NAME}.schema_migration`])
  for (const { name, statements } of files) {
    if (name > file) break
    for (const sql of name === file ? statements.slice(0, done) : statements) await connection.query(sql)
    if (name < file) await connection.query('insert into schema_migration (name) values (?)', [name])
  }
}

test.each([...MIGRATIONS])('%s is applied to the same schema wherever it was cut before', async (file) => {
  const { statements } = files.find(({ name }) => name === file) ?? { statements: [] }
  expect(statements.length).toBeGreaterThan(0)
  for (const done of [...statements.keys(), statements.length]) {
    await cutAfter(file, done)
    const { applied } = await migrate(address)
    expect(applied, `cut after ${done} statements`).toEqual(MIGRATIONS.filter((name) => name >= file))
    expect(await schemaOf(address.DATABASE_NAME), `cut after ${done} statements`).toEqual(whole)
  }
})
