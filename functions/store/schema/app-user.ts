import type { RowDataPacket } from 'mysql2/promise'
import { connect, type DatabaseAddress } from '../mysql/connection.ts'
import { named } from '../mysql/failure.ts'
import { createLogin, type LoginUser } from './login-user.ts'

/** The statements each table needs, and not one more. LOAD DATA LOCAL needs INSERT only. */
const GRANTS = {
  distributor: 'select, insert, update',
  share_ratio: 'select, insert, update, delete',
  active_set: 'select, insert, update',
  job: 'select, insert, update',
  execution: 'select, insert, update',
  fence_floor: 'select, update',
  job_chunk: 'select, insert, update, delete',
  outbox: 'select, insert, update',
  // What was recorded stays.
  audit: 'select, insert',
  profile: 'select, insert',
  held_set: 'select, insert',
  warned_file: 'select, insert, update',
  schema_migration: 'select',
  slice_status: 'select',
} as const

/** What the user may call. */
const PROCEDURES = ['foreign_rules'] as const

/**
 * Where a statement finds the sessions that it waits for, and which are ours. Killing those of the same user needs no
 * privilege. Single columns where others hold statements of other users with their values.
 */
const WATCH_GRANTS = {
  data_locks: 'select',
  data_lock_waits: 'select',
  metadata_locks: 'select',
  session_connect_attrs: 'select',
  threads:
    'select (thread_id, processlist_id, processlist_user, processlist_host, processlist_command, processlist_time)',
  events_statements_current: 'select (thread_id, digest_text)',
} as const

/**
 * Creates the functions' user or brings its password and privileges up to date. Repeating it is safe.
 *
 * @param master address of a user who may create users and grant, on a migrated database
 */
export const createAppUser = async (master: DatabaseAddress, user: LoginUser): Promise<void> =>
  await named(grantAll(master, user))

const grantAll = async (master: DatabaseAddress, user: LoginUser): Promise<void> => {
  const connection = await connect(master)
  try {
    await createLogin(connection, user)
    for (const [table, privileges] of Object.entries(GRANTS))
      await connection.query(`grant ${privileges} on ?? to ?@'%'`, [`${master.DATABASE_NAME}.${table}`, user.name])
    for (const name of PROCEDURES)
      await connection.query(`grant execute on procedure ?? to ?@'%'`, [`${master.DATABASE_NAME}.${name}`, user.name])
    for (const [table, privileges] of Object.entries(WATCH_GRANTS))
      await connection.query(`grant ${privileges} on performance_schema.${table} to ?@'%'`, [user.name])
  } finally {
    connection.destroy()
  }
}

/** The privileges the user has, as the server lists them; for tests and for people who check. */
export const privilegesOf = async (master: DatabaseAddress, name: string): Promise<string[]> => {
  const connection = await connect(master)
  try {
    const [rows] = await connection.query<RowDataPacket[]>(`show grants for ?@'%'`, [name])
    return rows.map((row) => String(Object.values(row)[0]))
  } finally {
    connection.destroy()
  }
}
