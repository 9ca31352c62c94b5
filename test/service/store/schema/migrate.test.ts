import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { MIGRATION_LOCK_WAIT_S } from '../../../../functions/contract/limits.ts'
import { migrate, statementsOf } from '../../../../functions/store/schema/migrate.ts'
import { MIGRATIONS } from '../../../../functions/store/schema/migration-files.ts'
import { useTestDatabase } from '../../../support/test-database.ts'

const db = useTestDatabase('migrate')

test('a migration that waits for a reader lets others pass, and is applied once the reader ends', async () => {
  const reader = db.connect()
  await reader.begin()
  await reader.rows('select count(*) from audit')
  // The last migration again: its view takes the place of the one that the reader holds.
  await reader.rows('select count(*) from settled_share_ratio')
  await db.outside.change('delete from schema_migration where name = ?', ['004-newest-job.sql'])
  let isApplied = false
  const migrating = migrate(db.address).finally(() => {
    isApplied = true
  })
  await new Promise((resume) => setTimeout(resume, (MIGRATION_LOCK_WAIT_S + 2) * 1_000))
  expect(await db.connect(8_000).rows('select 1 as one from settled_share_ratio limit 1')).toEqual([])
  expect(isApplied).toBe(false)
  await reader.commit()
  expect((await migrating).applied).toEqual(['004-newest-job.sql'])
})

test.each([...MIGRATIONS])('%s is cut into whole statements', async (file) => {
  const text = await readFile(new URL(`../../../../functions/store/schema/migrations/${file}`, import.meta.url), 'utf8')
  const statements = statementsOf(text)
  const heads = statements.map((statement) => statement.replace(/^(--[^\n]*\n|\s)*/, '').split(' ', 1)[0])
  expect(heads.filter((head) => !/^(create|alter|drop|insert|update)$/.test(head ?? ''))).toEqual([])
  expect(statements.filter((statement) => statement.includes('begin')).every((one) => one.endsWith('end'))).toBe(true)
})
