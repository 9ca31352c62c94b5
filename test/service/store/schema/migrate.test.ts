import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { MIGRATION_LOCK_WAIT_S } from '../../../../functions/contract/limits.ts'
import { migrate, statementsOf } from '../../../../functions/store/schema/migrate.ts'
import { MIGRATIONS } from '../../../../functions/store/schema/migration-files.ts'
import { newSlice, useTestDatabase } from '../../../support/test-database.ts'

const db = useTestDatabase('migrate')

test('a migration that waits for a reader lets others pass, and is applied once the reader ends', async () => {
  const reader = db.connect()
  await reader.begin()
  await reader.rows('select count(*) from audit')
  // The readers' views again: each takes the place of the one that the reader holds.
  await reader.rows('select count(*) from settled_share_ratio')
  await db.outside.change('delete from schema_migration where name = ?', ['002-readers.sql'])
  let isApplied = false
  const migrating = migrate(db.address).finally(() => {
    isApplied = true
  })
  await new Promise((resume) => setTimeout(resume, (MIGRATION_LOCK_WAIT_S + 2) * 1_000))
  expect(await db.connect(8_000).rows('select 1 as one from settled_share_ratio limit 1')).toEqual([])
  expect(isApplied).toBe(false)
  await reader.commit()
  expect((await migrating).applied).toEqual(['002-readers.sql'])
})

test('a migration that broke off half way is applied again from its beginning, and what is there stays', async () => {
  const slice = await newSlice(db.outside)
  await db.outside.change('delete from schema_migration')
  await db.outside.change('drop table audit')
  await db.outside.change('drop procedure foreign_rules')
  await db.outside.change('drop table profile')
  expect((await migrate(db.address)).applied).toEqual([...MIGRATIONS])
  expect(await db.outside.rows('select code from distributor where id = ?', [slice.distributorId])).toEqual([
    { code: slice.distributor },
  ])
  expect((await migrate(db.address)).applied).toEqual([])
})

test.each([...MIGRATIONS])('%s is cut into whole statements', async (file) => {
  const text = await readFile(new URL(`../../../../functions/store/schema/migrations/${file}`, import.meta.url), 'utf8')
  const statements = statementsOf(text)
  const heads = statements.map((statement) => statement.replace(/^(--[^\n]*\n|\s)*/, '').split(' ', 1)[0])
  expect(heads.filter((head) => !/^(create|alter|drop|insert|update)$/.test(head ?? ''))).toEqual([])
  expect(statements.filter((statement) => /^begin$/m.test(statement)).every((one) => one.endsWith('end'))).toBe(true)
})
