import type { Checks } from '../contract/reports.ts'
import type { Database } from './database.ts'
import { MIGRATIONS } from './migration-files.ts'

/** What the server is, whether chunks can be loaded into it, and whether its schema is this release's. */
export const databaseCheck = async (database: Database): Promise<Checks['database']> => {
  const [server] = await database.rows<{ version: string; localInfile: number }>(
    'select version() as version, @@global.local_infile as localInfile',
  )
  const rows = await database.rows<{ name: string }>('select name from schema_migration order by name')
  const applied = rows.map(({ name }) => name)
  const expected: readonly string[] = MIGRATIONS
  return {
    version: server?.version ?? '',
    localInfile: server?.localInfile === 1,
    migrationsMissing: expected.filter((name) => !applied.includes(name)),
    migrationsUnknown: applied.filter((name) => !expected.includes(name)),
  }
}

/** Events that wait to be published, and the age of the oldest. */
export const unpublishedCheck = async (database: Database): Promise<Checks['unpublished']> => {
  const [row] = await database.rows<Checks['unpublished']>(
    `select count(*) as events, timestampdiff(second, min(created_at), current_timestamp(6)) as oldestS
     from outbox where published_at is null`,
  )
  return row ?? { events: 0, oldestS: null }
}
