import { expect, test } from 'vitest'
import { databaseCheck, factsOf, requireReady, unpublishedCheck } from '../../../../functions/store/schema/health.ts'
import { MIGRATIONS } from '../../../../functions/store/schema/migration-files.ts'
import { useTestDatabase } from '../../../support/test-database.ts'

/* What is seen of a server that has everything; preflight.test.ts has servers that lack something. */
const db = useTestDatabase('health')

test('the facts are those that the server tells of itself', async () => {
  const [own] = await db.outside.rows<{ version: string; packet: number }>(
    'select version() as version, @@global.max_allowed_packet as packet',
  )
  expect(await factsOf(db.outside)).toEqual({
    ...{ version: own?.version, maxAllowedPacket: own?.packet },
    ...{ localInfile: true, isReadOnly: false, binlogFormat: 'ROW' },
  })
})

test('a server that has everything is ready', async () => {
  await requireReady(db.connect())
})

test('migrations of another release are seen: those that lack and those that are too many', async () => {
  expect(await databaseCheck(db.outside)).toMatchObject({
    ...{ migrationsMissing: [], migrationsUnknown: [], foreignRules: [] },
  })
  const last = MIGRATIONS.at(-1) ?? ''
  await db.outside.change('update schema_migration set name = ? where name = ?', ['999-later.sql', last])
  expect(await databaseCheck(db.outside)).toMatchObject({
    ...{ migrationsMissing: [last], migrationsUnknown: ['999-later.sql'] },
  })
  await db.outside.change('update schema_migration set name = ? where name = ?', [last, '999-later.sql'])
})

test("another program's trigger on our rows is seen by its kind and name", async () => {
  await db.outside.change('create trigger stranger before insert on share_ratio for each row set new.share = new.share')
  const { foreignRules } = await databaseCheck(db.outside)
  expect(foreignRules).toMatchObject([{ kind: 'trigger', name: 'stranger' }])
  await db.outside.change('drop trigger stranger')
})

test('before the migration that asks for strangers, nothing is said of them', async () => {
  await db.outside.change(`delete from schema_migration where name like '004-%'`)
  expect(await databaseCheck(db.outside)).toMatchObject({
    foreignRules: [],
    migrationsMissing: ['004-foreign-rules.sql'],
  })
})

test('no event waits in a database without jobs', async () => {
  expect(await unpublishedCheck(db.outside)).toEqual({ events: 0, oldestS: null })
})
