import { randomUUID } from 'node:crypto'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import { Failure } from '../../contract/failures.ts'
import { DATABASE_CONNECT_TIMEOUT_MS } from '../../contract/limits.ts'

/** The connect attribute that every session of ours carries, with a value of its own. */
export const TAG_ATTRIBUTE = 'sharelock'

export const newTag = (): string => randomUUID()

/** A session as the server itself names it. Only the tag says that a thread is still this session. */
export type OwnSession = {
  readonly id: number
  readonly tag: string
  /** The server's own id: after a failover the same address may be another server. */
  readonly server: string
}

type Seen = { id: number; server: string; schema: number; attributesBytes: number; tag: string | null }

const SEEN = `select connection_id() as id, @@server_uuid as server, @@performance_schema as \`schema\`,
    @@performance_schema_session_connect_attrs_size as attributesBytes,
    (select attr_value from performance_schema.session_connect_attrs
     where processlist_id = connection_id() and attr_name = ?) as tag`

/**
 * Asks the server who this connection is, for the thread that is killed when a statement hangs has to be ours. The
 * number in the greeting is no answer: a proxy in front of a server greets with a number of its own.
 * See decisions.md, "A session is known by its tag".
 *
 * @throws Failure DatabaseMisconfigured where it cannot be known
 */
export const identify = async (connection: Connection, tag: string): Promise<OwnSession> => {
  const [[seen]] = (await connection.query<RowDataPacket[]>({
    sql: SEEN,
    values: [TAG_ATTRIBUTE],
    timeout: DATABASE_CONNECT_TIMEOUT_MS,
  })) as unknown as [[Seen]]
  if (seen.tag === tag && seen.id === connection.threadId) return { id: seen.id, tag, server: seen.server }
  throw new Failure('DatabaseMisconfigured', whyUnknown(seen, connection.threadId))
}

const whyUnknown = ({ id, schema, attributesBytes, tag }: Seen, greeted: number): string => {
  if (id !== greeted)
    return `The endpoint greets as connection ${greeted}, the server behind it says ${id}: a proxy is in between, and a statement that hangs could not be ended. Connect to the instance's own endpoint, not to a proxy.`
  if (schema !== 1)
    return 'performance_schema is off, so sessions cannot be told apart and nobody who blocks a run could be found. Set performance_schema=1 and restart MySQL.'
  if (tag === null && attributesBytes >= 0 && attributesBytes < 512)
    return `MySQL keeps ${attributesBytes} bytes of connect attributes, too few for the tag of a session. Set performance_schema_session_connect_attrs_size=512 and restart MySQL.`
  return "MySQL does not show the tag of this session: a proxy is in between, or performance_schema has no room for more threads. Connect to the instance's own endpoint, and leave performance_schema_max_thread_instances at its default."
}
