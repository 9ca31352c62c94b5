import { IDLE_TIMEOUT_S, LOCK_WAIT_TIMEOUT_S } from '../../contract/limits.ts'

/** As large as MySQL takes it, which it reads as "no limit". */
const UNLIMITED = '18446744073709551615'

/**
 * Every server variable that a session inherits and that changes what our statements do, with the value that they were
 * written for: a server shared with other programs may have any other. What is not here has its reason in
 * test/service/store/mysql/session-settings.test.ts, which goes over all variables of a real server.
 * See decisions.md, "A session sets everything that it relies on".
 */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  // Transactions begin and end where the code says so, and each commit is one.
  autocommit: '1',
  completion_type: `'NO_CHAIN'`,
  // Without gap locks, neighbouring slices never wait for each other.
  transaction_isolation: `'READ-COMMITTED'`,
  transaction_read_only: '0',
  // Strict: a value that does not fit is an error and never an adjusted value. The driver escapes with backslashes.
  sql_mode: `'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'`,
  // What ends or cuts a statement. A limit on joins that is set switches large selects off, so these two go in order.
  max_execution_time: '0',
  sql_select_limit: UNLIMITED,
  max_join_size: UNLIMITED,
  sql_big_selects: '1',
  sql_safe_updates: '0',
  cte_max_recursion_depth: '1000',
  // With too little of it a range is read as the whole table, and every row on the way is locked.
  range_optimizer_max_mem_size: '8388608',
  // How long we wait: for a row, for a table that somebody alters, for the other side of the connection.
  innodb_lock_wait_timeout: String(LOCK_WAIT_TIMEOUT_S),
  lock_wait_timeout: String(LOCK_WAIT_TIMEOUT_S),
  net_read_timeout: '30',
  net_write_timeout: '60',
  wait_timeout: String(IDLE_TIMEOUT_S),
  // Keys are checked.
  foreign_key_checks: '1',
  unique_checks: '1',
  // What a value becomes on its way out.
  time_zone: `'+00:00'`,
  div_precision_increment: '4',
  group_concat_max_len: '1000000',
  max_sort_length: '1024',
  sql_auto_is_null: '0',
}

/** Text is UTF-8 on the connection, even where the server ignores what a client asks for in its greeting. */
const NAMES = 'names utf8mb4 collate utf8mb4_0900_ai_ci'

/**
 * One statement that makes a session ours, in one round trip.
 *
 * @param changed values for this session alone, e.g. the migrator's wait for a table
 */
export const sessionStatement = (changed: Readonly<Record<string, string>> = {}): string => {
  const settings = Object.entries({ ...SESSION_SETTINGS, ...changed }).map(([name, value]) => `${name} = ${value}`)
  return `set ${NAMES}, session ${settings.join(', ')}`
}
