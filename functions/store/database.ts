import { Readable } from 'node:stream'
import type { Connection, ResultSetHeader, RowDataPacket } from 'mysql2/promise'
import {
  DATABASE_CONNECT_TIMEOUT_MS,
  LOCK_PATIENCE_S,
  PING_AFTER_IDLE_MS,
  STATEMENT_TIMEOUT_MS,
} from '../contract/limits.ts'
import { clearWay, endAside } from './aside.ts'
import { type DatabaseAddress, openSession } from './connection.ts'
import { databaseFailure } from './database-failure.ts'
import type { OwnSession } from './own-session.ts'

/** What a value in a statement may be; mysql2 escapes each, arrays of rows included. */
export type Param = string | number | bigint | null | Date | Param[]
type Options = { readonly timeoutMs?: number }

/** Thrown instead of going on with a transaction on another connection. */
class TransactionLost extends Error {
  override readonly name = 'TransactionLost'
  readonly fatal = true
}

/** Thrown when a statement was cut off by its deadline; it is dead on the server too. */
export class StatementTimeout extends Error {
  override readonly name = 'StatementTimeout'
  readonly fatal = true
}

/** No error of the driver leaves this file without its name. */
const named = async <T>(answer: Promise<T>): Promise<T> => {
  try {
    return await answer
  } catch (error) {
    throw databaseFailure(error)
  }
}

/** One connection with a deadline on every statement, opened at first use and again after it broke. */
export class Database {
  readonly #address: DatabaseAddress
  #connection: Connection | undefined
  #session: OwnSession | undefined
  #usedAt = 0
  #inTransaction = false
  /** No statement may run past this moment; the middleware sets it for each invocation. */
  deadlineAt = Number.POSITIVE_INFINITY
  /** How long a statement waits for another session of our user before that one is killed. */
  patienceS = LOCK_PATIENCE_S

  constructor(address: DatabaseAddress) {
    this.#address = address
  }

  async rows<T>(sql: string, params: Param[] = [], options: Options = {}): Promise<T[]> {
    const rows = await named(this.#send<RowDataPacket[]>({ sql, values: params }, options))
    return rows as T[]
  }

  /** Runs a statement that changes rows. `affectedRows` counts changed, not merely matched, rows. */
  async change(sql: string, params: Param[] = [], options: Options = {}): Promise<ResultSetHeader> {
    return await named(this.#send<ResultSetHeader>({ sql, values: params }, options))
  }

  /** LOAD DATA LOCAL from memory: a body that is complete before the statement starts can't end half way. */
  async load(sql: string, params: Param[], body: Buffer): Promise<ResultSetHeader> {
    const infileStreamFactory = () => Readable.from([body], { objectMode: false })
    return await named(this.#send<ResultSetHeader>({ sql, values: params, infileStreamFactory }, {}))
  }

  /**
   * Opens a transaction on the connection. Until its end no other connection takes its place: a statement after a lost
   * connection fails, for on a new one it would run by itself, without the guard before it.
   */
  async begin(): Promise<void> {
    await this.change('start transaction')
    this.#inTransaction = true
  }

  /** The same for a report: it can change nothing, and every statement of it sees the same moment. */
  async beginReading(): Promise<void> {
    await this.change('set transaction isolation level repeatable read')
    await this.change('start transaction read only')
    this.#inTransaction = true
  }

  async commit(): Promise<void> {
    await this.change('commit')
    this.#inTransaction = false
  }

  /** Rolls back; where even that fails the connection is dropped, which rolls back too. */
  async rollback(): Promise<void> {
    if (this.#connection !== undefined) await this.change('rollback').catch(() => this.discard())
    this.#inTransaction = false
  }

  /** Drops the connection without a goodbye: its transaction rolls back. */
  discard(): void {
    this.#connection?.destroy()
    this.#connection = undefined
  }

  async close(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    await connection?.end().catch(() => connection.destroy())
  }

  async #send<T extends RowDataPacket[] | ResultSetHeader>(
    query: Parameters<Connection['query']>[0] & object,
    options: Options,
  ): Promise<T> {
    const connection = await this.#ready()
    const timeoutMs = Math.min(options.timeoutMs ?? STATEMENT_TIMEOUT_MS, this.deadlineAt - Date.now())
    const { promise: late, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => reject(new StatementTimeout(`The database did not answer within ${Math.round(timeoutMs / 1_000)} s`)),
      Math.max(timeoutMs, 1),
    )
    const session = this.#session as OwnSession
    // A look that fails changes nothing: the wait then ends by its own timeout.
    const look = () => void clearWay(this.#address, session).catch(() => undefined)
    const patience = setInterval(look, this.patienceS * 1_000)
    const answer = connection.query<T>(query)
    try {
      const [result] = await Promise.race([answer, late])
      this.#usedAt = Date.now()
      return result
    } catch (error) {
      if (!(error instanceof StatementTimeout)) throw error
      answer.catch(() => undefined)
      // The statement may still run on the server and hold its locks: a retry beside it would wait or, worse, overlap.
      await endAside(this.#address, session).catch(() => undefined)
      this.discard()
      throw error
    } finally {
      clearTimeout(timer)
      clearInterval(patience)
    }
  }

  async #ready(): Promise<Connection> {
    if (this.#inTransaction) {
      if (this.#connection !== undefined) return this.#connection
      throw new TransactionLost('the connection was lost within the transaction')
    }
    if (this.#connection !== undefined && Date.now() - this.#usedAt > PING_AFTER_IDLE_MS) {
      // A thawed sandbox may hold a socket that died while it slept.
      const { promise: late, reject } = Promise.withResolvers<never>()
      const timer = setTimeout(() => reject(new Error('no answer to ping')), DATABASE_CONNECT_TIMEOUT_MS)
      await Promise.race([this.#connection.ping(), late])
        .catch(() => this.discard())
        .finally(() => clearTimeout(timer))
    }
    this.#connection ??= await this.#open()
    return this.#connection
  }

  async #open(): Promise<Connection> {
    const { connection, session } = await openSession(this.#address)
    this.#session = session
    // Without a listener a connection cut while idle would end the process; the next statement reports it.
    connection.on('error', () => {
      if (this.#connection === connection) this.discard()
    })
    this.#usedAt = Date.now()
    return connection
  }
}
