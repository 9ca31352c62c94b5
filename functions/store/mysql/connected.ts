import type { Connection } from 'mysql2/promise'
import { DATABASE_CONNECT_TIMEOUT_MS } from '../../contract/limits.ts'
import { IdlePool } from '../invocation/idle-pool.ts'
import type { Invocation } from '../invocation/invocation.ts'
import { type DatabaseAddress, openSession } from './connection.ts'
import type { OwnSession } from './own-session.ts'

/** A connection that is set up, and what is known of it. */
export type Connected = {
  readonly connection: Connection
  readonly session: OwnSession
  usedAt: number
  isLost: boolean
}

/** Thrown when MySQL did not answer in time; where it was a statement, it is dead on the server too. */
export class StatementTimeout extends Error {
  override readonly name = 'StatementTimeout'
  readonly fatal = true
}

/** Thrown instead of going on with a transaction on another connection. */
export class TransactionLost extends Error {
  override readonly name = 'TransactionLost'
  readonly fatal = true
}

/** Where an idle connection waits for the next invocation. */
export const idleConnection = (): IdlePool<Connected> => new IdlePool(({ connection }) => connection.destroy())

/** Connects within the invocation's time; a connection that comes later is closed at once. */
export const openConnected = async (address: DatabaseAddress, invocation: Invocation): Promise<Connected> => {
  const opening = openSession(address)
  const silent = () => new StatementTimeout('The database did not let us in')
  try {
    const opened = await invocation.within('MySQL', () => opening, 2 * DATABASE_CONNECT_TIMEOUT_MS, silent)
    const connected: Connected = { ...opened, usedAt: Date.now(), isLost: false }
    // Without a listener a connection cut while idle would end the process; the next statement opens another.
    connected.connection.on('error', () => {
      connected.isLost = true
    })
    return connected
  } catch (error) {
    opening.then(
      ({ connection }) => connection.destroy(),
      () => undefined,
    )
    throw error
  }
}
