import type { Checks } from '../../contract/checks.ts'
import { type DatabaseFacts, lacksOf } from '../../contract/database-needs.ts'
import { Failure } from '../../contract/failures.ts'
import { REFUSED_EVENTS_SHOWN } from '../../contract/support-limits.ts'
import type { LentDatabase } from '../mysql/database.ts'
import { isoTime } from '../mysql/time.ts'
import { statement } from '../mysql/transaction.ts'
import type { Reader } from '../mysql/tx.ts'
import { MIGRATIONS } from './migration-files.ts'

export const factsOf = async (reader: Reader): Promise<DatabaseFacts> => {
  const [server] = await reader.rows<{ version: string; localInfile: number; packet: number; readOnly: number }>(
    `select version() as version, @@global.local_infile as localInfile, @@global.max_allowed_packet as packet,
            @@global.read_only as readOnly`,
  )
  // A variable that later releases may not have is asked for by its name.
  const [binlog] = await reader.rows<{ format: string }>(
    `select variable_value as format from performance_schema.global_variables where variable_name = 'binlog_format'`,
  )
  return {
    version: server?.version ?? '',
    localInfile: server?.localInfile === 1,
    maxAllowedPacket: server?.packet ?? 0,
    isReadOnly: server?.readOnly === 1,
    binlogFormat: binlog?.format ?? '',
  }
}

/** What the server is and has, what others hung on our rows, and whether the schema is this release's. */
export const databaseCheck = async (reader: Reader): Promise<Checks['database']> => {
  const rows = await reader.rows<{ name: string }>('select name from schema_migration order by name')
  const applied = rows.map(({ name }) => name)
  const expected: readonly string[] = MIGRATIONS
  const hasProcedure = applied.includes(FOREIGN_RULES)
  // A procedure answers with its rows and a header.
  const [foreignRules = []] = hasProcedure
    ? await reader.rows<Checks['database']['foreignRules']>('call foreign_rules()')
    : []
  return {
    facts: await factsOf(reader),
    foreignRules: foreignRules.map(({ kind, name, detail }) => ({ kind, name, detail })),
    migrationsMissing: expected.filter((name) => !applied.includes(name)),
    migrationsUnknown: applied.filter((name) => !expected.includes(name)),
  }
}

/** The migration that made the procedure. */
const FOREIGN_RULES = '004-foreign-rules.sql' satisfies (typeof MIGRATIONS)[number]

/**
 * Refuses a server on which no run could come to its end, before anything is touched.
 *
 * @throws Failure DatabaseMisconfigured
 */
export const requireReady = async (database: LentDatabase): Promise<void> => {
  await statement(database, async (reader) => {
    const [lack] = lacksOf(await factsOf(reader))
    if (lack !== undefined)
      throw new Failure('DatabaseMisconfigured', `${lack.what} ${lack.remedy} Nothing was touched.`)
    await database.requireOneServer()
  })
}

/** Events that wait for their turn to be published, and the age of the oldest. */
export const unpublishedCheck = async (reader: Reader): Promise<Checks['unpublished']> => {
  const [row] = await reader.rows<Checks['unpublished']>(
    `select count(*) as events, timestampdiff(second, min(created_at), current_timestamp(6)) as oldestS
     from outbox where published_at is null and set_aside_until is null`,
  )
  return row ?? { events: 0, oldestS: null }
}

/** Events that the topic refused, oldest first. */
export const refusedCheck = async (reader: Reader): Promise<Checks['refusedEvents']> => {
  const rows = await reader.rows<Checks['refusedEvents'][number]>(
    `select o.event_id as event, o.type, o.job_id as job, d.code as distributor,
            date_format(j.settlement_month, '%Y-%m') as month, o.attempts, coalesce(o.last_error, '') as error,
            o.set_aside_until as nextTryAt
     from outbox o join job j on j.id = o.job_id join distributor d on d.id = j.distributor_id
     where o.published_at is null and o.set_aside_until is not null order by o.id limit ?`,
    [REFUSED_EVENTS_SHOWN],
  )
  return rows.map((row) => ({ ...row, nextTryAt: isoTime(row.nextTryAt) }))
}
