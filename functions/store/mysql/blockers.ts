import type { Connection, RowDataPacket } from 'mysql2/promise'
import { DATABASE_CONNECT_TIMEOUT_MS } from '../../contract/limits.ts'
import { type OwnSession, TAG_ATTRIBUTE } from './own-session.ts'

/** A session that keeps one of ours waiting. */
export type Blocker = {
  readonly id: number
  readonly user: string
  readonly host: string
  /** What the thread does now, e.g. `Sleep` within an open transaction, and for how many seconds. */
  readonly command: string
  readonly seconds: number
  /** The statement it runs or ran last, without its values; null where the server does not say. */
  readonly statement: string | null
  /** A session of this program under the same user. */
  readonly isOurs: boolean
  readonly isWaiting: boolean
}

const COLUMNS = `t.processlist_id as id, coalesce(t.processlist_user, '?') as user,
    coalesce(t.processlist_host, '?') as host, coalesce(t.processlist_command, '?') as command,
    coalesce(t.processlist_time, 0) as seconds,
    (select max(e.digest_text) from performance_schema.events_statements_current e
     where e.thread_id = t.thread_id) as statement,
    t.processlist_user = us.processlist_user
      and exists (select 1 from performance_schema.session_connect_attrs a
                  where a.processlist_id = t.processlist_id and a.attr_name = ?) as isOurs`

/** Our own session, found by its tag: its number alone may be another session's on another server. */
const US = `performance_schema.session_connect_attrs mine
  join performance_schema.threads us on us.processlist_id = mine.processlist_id`
const IS_US = 'mine.attr_name = ? and mine.attr_value = ? and mine.processlist_id = ?'

/**
 * Who keeps our session waiting for a row. A row that is inserted is locked implicitly until somebody waits for it, and
 * the lock made then names the waiter's thread; but its transaction is the holder's, and that one's lock on the table
 * names the holder's own thread.
 */
const ROW_BLOCKERS = `select distinct ${COLUMNS},
    exists (select 1 from performance_schema.data_lock_waits c
            where c.requesting_engine_transaction_id = w.blocking_engine_transaction_id) as isWaiting
  from ${US}
  join performance_schema.data_lock_waits w on w.requesting_thread_id = us.thread_id
  join performance_schema.data_locks own
    on own.engine_transaction_id = w.blocking_engine_transaction_id and own.lock_type = 'TABLE'
  join performance_schema.threads t on t.thread_id = own.thread_id
  where ${IS_US} and t.processlist_id <> us.processlist_id`

/**
 * Who keeps it waiting for a whole table: an ALTER, a LOCK TABLES, or one that waits for its own turn already. For our
 * own DDL it is everybody who has the table in an open transaction. These are never ended, so whether they wait themselves
 * does not matter.
 */
const TABLE_BLOCKERS = `select distinct ${COLUMNS}, true as isWaiting
  from ${US}
  join performance_schema.metadata_locks ours on ours.owner_thread_id = us.thread_id and ours.lock_status = 'PENDING'
  join performance_schema.metadata_locks theirs
    on theirs.object_type = ours.object_type and theirs.object_schema <=> ours.object_schema
      and theirs.object_name <=> ours.object_name and theirs.owner_thread_id <> ours.owner_thread_id
  join performance_schema.threads t on t.thread_id = theirs.owner_thread_id
  where ${IS_US}
    and (theirs.lock_type in ('EXCLUSIVE', 'SHARED_NO_WRITE', 'SHARED_NO_READ_WRITE', 'SHARED_READ_ONLY')
      or (ours.lock_type = 'EXCLUSIVE' and theirs.lock_status = 'GRANTED'))`

type Row = Omit<Blocker, 'isOurs' | 'isWaiting'> & { readonly isOurs: number; readonly isWaiting: number }

/** The sessions that keep `us` waiting right now, seen from a connection beside it to the same server. */
export const blockersOf = async (side: Connection, us: OwnSession): Promise<Blocker[]> => {
  for (const sql of [ROW_BLOCKERS, TABLE_BLOCKERS]) {
    const values = [TAG_ATTRIBUTE, TAG_ATTRIBUTE, us.tag, us.id]
    const [rows] = await side.query<RowDataPacket[]>({ sql, values, timeout: DATABASE_CONNECT_TIMEOUT_MS })
    if (rows.length > 0)
      return (rows as unknown as Row[]).map((row) => ({
        ...row,
        isOurs: row.isOurs === 1,
        isWaiting: row.isWaiting === 1,
      }))
  }
  return []
}

/**
 * Ends those that are ours and do not wait themselves; their transactions roll back. Nobody else's session is ended.
 * See decisions.md, "Another user's session is named, never ended".
 */
export const endOurs = async (side: Connection, blockers: readonly Blocker[]): Promise<void> => {
  for (const { id } of blockers.filter(({ isOurs, isWaiting }) => isOurs && !isWaiting)) await end(side, id)
}

/** Ends one session of ours, if its number still is this session's: after a failover it may be an innocent one's. */
export const endSession = async (side: Connection, { id, tag }: OwnSession): Promise<void> => {
  const [rows] = await side.query<RowDataPacket[]>({
    sql: `select 1 from performance_schema.session_connect_attrs
          where processlist_id = ? and attr_name = ? and attr_value = ?`,
    values: [id, TAG_ATTRIBUTE, tag],
    timeout: DATABASE_CONNECT_TIMEOUT_MS,
  })
  if (rows.length > 0) await end(side, id)
}

const NO_SUCH_THREAD = 1094

/** A session that ended by itself is as good. */
const end = async (side: Connection, id: number): Promise<void> => {
  await side.query({ sql: 'kill ?', values: [id], timeout: DATABASE_CONNECT_TIMEOUT_MS }).catch((error: unknown) => {
    if ((error as { errno?: number }).errno !== NO_SUCH_THREAD) throw error
  })
}
