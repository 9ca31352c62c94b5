import { REFUSED_EVENTS_SHOWN } from '../contract/limits.ts'
import type { Checks } from '../contract/reports.ts'
import type { Database } from './database.ts'
import { MIGRATIONS } from './migration-files.ts'
import { isoTime } from './time.ts'

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

/** Events that wait for their turn to be published, and the age of the oldest. */
export const unpublishedCheck = async (database: Database): Promise<Checks['unpublished']> => {
  const [row] = await database.rows<Checks['unpublished']>(
    `select count(*) as events, timestampdiff(second, min(created_at), current_timestamp(6)) as oldestS
     from outbox where published_at is null and set_aside_until is null`,
  )
  return row ?? { events: 0, oldestS: null }
}

/** Events that the topic refused, oldest first. */
export const refusedCheck = async (database: Database): Promise<Checks['refusedEvents']> => {
  const rows = await database.rows<Checks['refusedEvents'][number]>(
    `select o.event_id as event, o.type, o.job_id as job, d.code as distributor,
            date_format(j.settlement_month, '%Y-%m') as month, o.attempts, coalesce(o.last_error, '') as error,
            o.set_aside_until as nextTryAt
     from outbox o join job j on j.id = o.job_id join distributor d on d.id = j.distributor_id
     where o.published_at is null and o.set_aside_until is not null order by o.id limit ?`,
    [REFUSED_EVENTS_SHOWN],
  )
  return rows.map((row) => ({ ...row, nextTryAt: isoTime(row.nextTryAt) }))
}
