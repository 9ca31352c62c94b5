import { Readable } from 'node:stream'
import type { Connection, ResultSetHeader, RowDataPacket } from 'mysql2/promise'
import {
  DATABASE_CONNECT_TIMEOUT_MS,
  LOCK_PATIENCE_S,
  LOCK_WAIT_TIMEOUT_S,
  PING_AFTER_IDLE_MS,
  STATEMENT_TIMEOUT_MS,
} from '../contract/limits.ts'
import { connect, type DatabaseAddress } from './connection.ts'

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

/**
 * The settings every statement relies on, in one round trip. READ COMMITTED: without gap locks, neighbouring slices
 * never wait for each other. Strict mode: a value that does not fit is an error and never an adjusted value.
 */
const SESSION = `set session transaction_isolation = 'READ-COMMITTED',
  sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',
  innodb_lock_wait_timeout = ${LOCK_WAIT_TIMEOUT_S}, time_zone = '+00:00'`

/**
 * The sessions of one user that keep a session waiting for a lock right now and do not wait themselves. A row that is
 * inserted is locked implicitly until somebody waits for it, and the lock made then names the waiter's thread; but its
 * transaction is the holder's, and that one's lock on the table names the holder's own thread.
 */
const BLOCKERS = `select distinct t.processlist_id as id
  from performance_schema.threads us
  join performance_schema.data_lock_waits w on w.requesting_thread_id = us.thread_id
  join performance_schema.data_locks own
    on own.engine_transaction_id = w.blocking_engine_transaction_id and own.lock_type = 'TABLE'
  join performance_schema.threads t on t.thread_id = own.thread_id
  where us.processlist_id = ? and t.processlist_user = ? and t.processlist_id <> us.processlist_id
    and not exists (select 1 from performance_schema.data_lock_waits c
                    where c.requesting_engine_transaction_id = w.blocking_engine_transaction_id)`

/** One connection with a deadline on every statement, opened at first use and again after it broke. */
export class Database {
  readonly #address: DatabaseAddress
  #connection: Connection | undefined
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
    const rows = await this.#send<RowDataPacket[]>({ sql, values: params }, options)
    return rows as T[]
  }

  /** Runs a statement that changes rows. `affectedRows` counts changed, not merely matched, rows. */
  async change(sql: string, params: Param[] = [], options: Options = {}): Promise<ResultSetHeader> {
    return await this.#send<ResultSetHeader>({ sql, values: params }, options)
  }

  /** LOAD DATA LOCAL from memory: a body that is complete before the statement starts can't end half way. */
  async load(sql: string, params: Param[], body: Buffer): Promise<ResultSetHeader> {
    const infileStreamFactory = () => Readable.from([body], { objectMode: false })
    return await this.#send<ResultSetHeader>({ sql, values: params, infileStreamFactory }, {})
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

  /** Ends other connections of the same database user, as the server's own thread ids name them. */
  async kill(threadIds: readonly number[]): Promise<void> {
    await this.#aside((side) => endSessions(side, threadIds))
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
    const patience = setInterval(() => void this.#killBlockers(connection.threadId), this.patienceS * 1_000)
    const answer = connection.query<T>(query)
    try {
      const [result] = await Promise.race([answer, late])
      this.#usedAt = Date.now()
      return result
    } catch (error) {
      if (!(error instanceof StatementTimeout)) throw error
      answer.catch(() => undefined)
      // The statement may still run on the server and hold its locks: a retry beside it would wait or, worse, overlap.
      await this.kill([connection.threadId]).catch(() => undefined)
      this.discard()
      throw error
    } finally {
      clearTimeout(timer)
      clearInterval(patience)
    }
  }

  /**
   * Ends the sessions of our own user that `threadId` waits for; their transactions roll back. A worker of ours that is
   * frozen or gone would keep its locks until the server's `wait_timeout`. A look that fails changes nothing: the wait
   * then ends by its own timeout.
   */
  async #killBlockers(threadId: number): Promise<void> {
    const looking = this.#aside(async (side) => {
      const query = {
        sql: BLOCKERS,
        values: [threadId, this.#address.DATABASE_USER],
        timeout: DATABASE_CONNECT_TIMEOUT_MS,
      }
      const [rows] = await side.query<RowDataPacket[]>(query)
      await endSessions(
        side,
        rows.map(({ id }) => Number(id)),
      )
    })
    await looking.catch(() => undefined)
  }

  /** Works on a connection of its own, beside the one that may be waiting. */
  async #aside(work: (side: Connection) => Promise<void>): Promise<void> {
    const side = await connect(this.#address)
    try {
      await work(side)
    } finally {
      side.destroy()
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
    const connection = await connect(this.#address)
    // Without a listener a connection cut while idle would end the process; the next statement reports it.
    connection.on('error', () => {
      if (this.#connection === connection) this.discard()
    })
    await connection.query({ sql: SESSION, timeout: DATABASE_CONNECT_TIMEOUT_MS })
    this.#usedAt = Date.now()
    return connection
  }
}

const endSessions = async (side: Connection, threadIds: readonly number[]): Promise<void> => {
  // 1094: the connection ended by itself, which is as good.
  for (const id of threadIds)
    await side.query({ sql: 'kill ?', values: [id], timeout: DATABASE_CONNECT_TIMEOUT_MS }).catch(ignoring(1094))
}

const ignoring = (errno: number) => (error: unknown) => {
  if ((error as { errno?: number }).errno !== errno) throw error
}
