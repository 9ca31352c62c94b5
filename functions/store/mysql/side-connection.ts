import type { Connection, RowDataPacket } from 'mysql2/promise'
import { Failure } from '../../contract/failures.ts'
import { DATABASE_CONNECT_TIMEOUT_MS } from '../../contract/limits.ts'
import { type Blocker, blockersOf, endOurs, endSession } from './blockers.ts'
import { connect, type DatabaseAddress } from './connection.ts'
import type { OwnSession } from './own-session.ts'

/** Works on a connection of its own, beside the one that may be waiting. */
const onSideConnection = async <T>(address: DatabaseAddress, work: (side: Connection) => Promise<T>): Promise<T> => {
  const side = await connect(address)
  try {
    return await work(side)
  } finally {
    side.destroy()
  }
}

/** @throws Failure DatabaseMisconfigured where this connection reaches another server than `session` */
export const requireSameServer = async (address: DatabaseAddress, session: OwnSession): Promise<void> =>
  await onSideConnection(address, async (side) => {
    const [[seen]] = await side.query<RowDataPacket[]>({
      sql: 'select @@server_uuid as server',
      timeout: DATABASE_CONNECT_TIMEOUT_MS,
    })
    if (seen?.server === session.server) return
    throw new Failure(
      'DatabaseMisconfigured',
      `Two connections to ${address.DATABASE_HOST} reach two servers (${session.server} and ${seen?.server}), so a statement that hangs could not be ended. Connect to the instance's own endpoint, not to a proxy or a group of servers.`,
    )
  })

/** Ends a session of ours whose statement hangs: a retry beside it would wait for it or, worse, overlap. */
export const endOnSideConnection = async (address: DatabaseAddress, session: OwnSession): Promise<void> =>
  await onSideConnection(address, (side) => endSession(side, session))

/** Everybody who keeps `session` waiting; nobody is ended. */
export const seeBlockers = async (address: DatabaseAddress, session: OwnSession): Promise<Blocker[]> =>
  await onSideConnection({ ...address, DATABASE_NAME: 'information_schema' }, (side) => blockersOf(side, session))

/**
 * Ends the sessions of ours that keep `session` waiting; their transactions roll back. A worker of ours that is frozen or
 * gone would keep its locks until the server's `wait_timeout`.
 *
 * @param check throws where the wait is over meanwhile: then nobody is ended
 * @returns those that were not ended, for the wait's own error to name
 */
export const clearWay = async (
  address: DatabaseAddress,
  session: OwnSession,
  check: () => void = () => undefined,
): Promise<Blocker[]> =>
  await onSideConnection(address, async (side) => {
    const blockers = await blockersOf(side, session)
    check()
    await endOurs(side, blockers)
    return blockers.filter(({ isOurs }) => !isOurs)
  })
