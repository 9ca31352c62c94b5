import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../functions/store/mysql/database.ts'

/* What the benchmark asks the MySQL server itself, the same way for every way of working. */

const SUMMARY = 'performance_schema.events_transactions_summary_by_account_by_event_name'

/** Forgets the transactions so far. */
export const forgetTransactions = async (database: Database): Promise<void> => {
  await database.change(`truncate table ${SUMMARY}`)
}

/** The longest transaction of a database user since they were forgotten, in milliseconds, begin to end. */
export const longestTransactionMs = async (database: Database, user: string): Promise<number> => {
  const [row] = await database.rows<{ ms: string | null }>(
    `select max(max_timer_wait) / 1e9 as ms from ${SUMMARY} where user = ?`,
    [user],
  )
  return Number(row?.ms ?? 0)
}

/** Transactions whose deleted rows purge has yet to remove; below this it has caught up. */
const HISTORY_CALM = 200
const CALM_WITHIN_MS = 60_000
const POLL_MS = 100

/** Purge frees its history in batches: a rest that no work follows stays, and is nobody's burden. */
const STILL_MS = 2_000

/** Waits until purge has caught up, so that nobody pays for the rows that somebody else deleted. */
export const settle = async (database: Database): Promise<void> => {
  const deadline = Date.now() + CALM_WITHIN_MS
  let last = { length: Number.POSITIVE_INFINITY, at: Date.now() }
  for (;;) {
    const [row] = await database.rows<{ count: string }>(
      `select count from information_schema.innodb_metrics where name = 'trx_rseg_history_len'`,
    )
    const length = Number(row?.count ?? 0)
    if (length !== last.length) last = { length, at: Date.now() }
    const isStill = Date.now() - last.at > STILL_MS
    if (length < HISTORY_CALM || isStill || Date.now() > deadline) return
    await sleep(POLL_MS)
  }
}

/**
 * Waits until no connection of the user is left: what a killed process had begun has then been rolled back or finished.
 */
export const untilGone = async (database: Database, user: string): Promise<void> => {
  for (;;) {
    const rows = await database.rows('select 1 from performance_schema.threads where processlist_user = ? limit 1', [
      user,
    ])
    if (rows.length === 0) return
    await sleep(POLL_MS)
  }
}

export type ServerFacts = { readonly version: string; readonly settings: Readonly<Record<string, string>> }

/** The version, and the settings that speed and durability rest on. */
export const serverFacts = async (database: Database): Promise<ServerFacts> => {
  const [row] = await database.rows<Record<string, string | number>>(
    `select version() as version, @@sync_binlog as sync_binlog,
            @@innodb_flush_log_at_trx_commit as innodb_flush_log_at_trx_commit,
            @@log_bin as log_bin, @@innodb_buffer_pool_size / 1048576 as pool, @@innodb_redo_log_capacity / 1048576 as redo`,
  )
  const { version = '', pool = 0, redo = 0, ...durability } = row ?? {}
  return {
    version: String(version),
    settings: {
      ...Object.fromEntries(Object.entries(durability).map(([name, value]) => [name, `= ${value}`])),
      'buffer pool': `${Number(pool)} MiB`,
      'redo log': `${Number(redo)} MiB`,
    },
  }
}
