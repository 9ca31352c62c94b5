import type { Connection, ResultSetHeader, RowDataPacket } from 'mysql2/promise'
import { isFailure } from '../../contract/failures.ts'
import {
  DATABASE_CONNECT_TIMEOUT_MS,
  KILL_RESERVE_MS,
  LOCK_PATIENCE_S,
  PING_AFTER_IDLE_MS,
  STATEMENT_TIMEOUT_MS,
} from '../../contract/limits.ts'
import type { IdlePool } from '../invocation/idle-pool.ts'
import { Invocation } from '../invocation/invocation.ts'
import { type Connected, idleConnection, openConnected, StatementTimeout, TransactionLost } from './connected.ts'
import type { DatabaseAddress } from './connection.ts'
import { databaseFailure, isWait, named } from './failure.ts'
import type { OwnSession } from './own-session.ts'
import { streamOf } from './pieces.ts'
import { clearWay, endOnSideConnection, requireSameServer } from './side-connection.ts'
import { type Channel, type Options, openTx, type Param, type Tx } from './tx.ts'
import { WaitWatch } from './wait-watch.ts'

/** The key to what a lent database can do by itself; transaction.ts has it. */
export const RAW: unique symbol = Symbol('raw')

/**
 * An invocation's database as its tasks have it: nothing is sent on it by itself. Everything that reads or writes says how, with
 * `transaction`, `reading`, `statement` or `repeatable` of transaction.ts.
 */
export type LentDatabase = { readonly [RAW]: Database; requireOneServer(): Promise<void> }

/**
 * One invocation's connection, with a deadline on every statement; opened at first use and again after it broke. When
 * the invocation ends the connection is kept for the next one if nothing is under way on it, and destroyed otherwise;
 * whatever the ended invocation still asks for is refused and never sent.
 * See decisions.md, "A transaction never changes its connection".
 */
export class Database implements Channel, LentDatabase {
  readonly #address: DatabaseAddress
  readonly #invocation: Invocation
  readonly #idle: IdlePool<Connected>
  #connected: Connected | undefined
  /** Statements, pings and connects that are under way. */
  #underWay = 0
  /** The transaction that is open. */
  #tx: Tx | undefined

  constructor(
    address: DatabaseAddress,
    invocation: Invocation = new Invocation(),
    idle: IdlePool<Connected> = idleConnection(),
  ) {
    this.#address = address
    this.#invocation = invocation
    this.#idle = idle
    invocation.atEnd(() => this.#handBack())
  }

  get [RAW](): Database {
    return this
  }

  /** Milliseconds until statements end by OutOfTime. */
  get leftMs(): number {
    return this.#invocation.leftMs
  }

  async rows<T>(sql: string, params: Param[] = [], options: Options = {}): Promise<T[]> {
    const rows = await named(this.#send<RowDataPacket[]>({ sql, values: params }, options))
    return rows as T[]
  }

  /** Runs a statement that changes rows. `affectedRows` counts the rows that changed, not all that matched. */
  async change(sql: string, params: Param[] = [], options: Options = {}): Promise<ResultSetHeader> {
    return await named(this.#send<ResultSetHeader>({ sql, values: params }, options))
  }

  async load(sql: string, params: Param[], body: Buffer, options: Options = {}): Promise<ResultSetHeader> {
    const infileStreamFactory = () => streamOf(body)
    return await named(this.#send<ResultSetHeader>({ sql, values: params, infileStreamFactory }, options))
  }

  /**
   * Makes sure that a second connection reaches the same server: from there a statement that hangs is ended.
   *
   * @throws Failure DatabaseMisconfigured where the endpoint leads to several servers
   */
  async requireOneServer(): Promise<void> {
    await named(this.#ready().then(({ session }) => requireSameServer(this.#address, session)))
  }

  /**
   * Opens a transaction on the connection. Until its end no other connection takes its place: a statement after a lost
   * connection fails, for on a new one it would run by itself, without the guard before it.
   *
   * @param patienceS of each of its statements
   */
  async begin(patienceS = LOCK_PATIENCE_S): Promise<Tx> {
    await this.change('start transaction', [], { patienceS })
    return this.#opened(patienceS)
  }

  /** The same for a report: it can change nothing, and every statement of it sees the same moment. */
  async beginReading(): Promise<Tx> {
    await this.change('set transaction isolation level repeatable read')
    await this.change('start transaction read only')
    return this.#opened(LOCK_PATIENCE_S)
  }

  #opened(patienceS: number): Tx {
    const tx: Tx = openTx(this, patienceS, () => this.#tx === tx)
    this.#tx = tx
    return tx
  }

  async commit(): Promise<void> {
    await this.change('commit')
    this.#tx = undefined
  }

  /** Rolls back; where even that fails the connection is dropped, which rolls back too. */
  async rollback(): Promise<void> {
    if (this.#connected !== undefined) await this.change('rollback').catch(() => this.discard())
    this.#tx = undefined
  }

  /** Drops the connection without a goodbye: its transaction rolls back. */
  discard(): void {
    this.#connected?.connection.destroy()
    this.#connected = undefined
  }

  async close(): Promise<void> {
    const connection = this.#connected?.connection
    this.#connected = undefined
    await connection?.end().catch(() => connection.destroy())
  }

  #handBack(): void {
    const connected = this.#connected
    if (this.#underWay > 0 || this.#tx !== undefined || connected?.isLost) this.discard()
    else if (connected !== undefined) this.#idle.give(connected)
    this.#connected = undefined
  }

  async #send<T extends RowDataPacket[] | ResultSetHeader>(
    query: Parameters<Connection['query']>[0] & object,
    options: Options,
  ): Promise<T> {
    this.#underWay += 1
    try {
      return await this.#answer<T>(await this.#ready(), query, options)
    } finally {
      this.#underWay -= 1
    }
  }

  async #answer<T extends RowDataPacket[] | ResultSetHeader>(
    connected: Connected,
    query: Parameters<Connection['query']>[0] & object,
    { timeoutMs = STATEMENT_TIMEOUT_MS, patienceS = LOCK_PATIENCE_S }: Options,
  ): Promise<T> {
    const { connection, session } = connected
    // Once the invocation is over, it does not matter any more who was in its way.
    const look = () => clearWay(this.#address, session, () => this.#invocation.check('MySQL'))
    const watch = new WaitWatch(look, patienceS * 1_000)
    try {
      const [result] = await this.#invocation.within(
        'MySQL',
        () => connection.query<T>(query),
        timeoutMs,
        () => {
          return new StatementTimeout(`The database did not answer within ${Math.round(timeoutMs / 1_000)} s`)
        },
      )
      connected.usedAt = Date.now()
      return result
    } catch (error) {
      if (error instanceof StatementTimeout || isFailure(error, 'OutOfTime')) await this.#cutOff(session)
      throw isWait(error) ? databaseFailure(error, await watch.seen()) : error
    } finally {
      watch.stop()
    }
  }

  /**
   * The statement may still run on the server and hold its locks: a retry beside it would wait or, worse, overlap. At
   * the end of an invocation this has little time, and the answer comes first.
   */
  async #cutOff(session: OwnSession): Promise<void> {
    this.discard()
    const limitMs = Math.min(2 * DATABASE_CONNECT_TIMEOUT_MS, this.leftMs + KILL_RESERVE_MS)
    const killed = endOnSideConnection(this.#address, session).catch(() => undefined)
    await Promise.race([killed, new Promise((resume) => setTimeout(resume, limitMs).unref())])
  }

  async #ready(): Promise<Connected> {
    this.#invocation.check('MySQL')
    if (this.#tx !== undefined) {
      if (this.#connected !== undefined && !this.#connected.isLost) return this.#connected
      throw new TransactionLost('the connection was lost within the transaction')
    }
    this.#connected ??= this.#idle.take()
    if (this.#connected?.isLost) this.discard()
    // A thawed sandbox may hold a socket that died while it slept.
    if (this.#connected !== undefined && Date.now() - this.#connected.usedAt > PING_AFTER_IDLE_MS)
      await this.#ping(this.#connected)
    this.#connected ??= await openConnected(this.#address, this.#invocation)
    return this.#connected
  }

  async #ping({ connection }: Connected): Promise<void> {
    const silent = () => new StatementTimeout('no answer to ping')
    const answer = this.#invocation.within('MySQL', () => connection.ping(), DATABASE_CONNECT_TIMEOUT_MS, silent)
    await answer.catch((error: unknown) => {
      this.discard()
      if (isFailure(error)) throw error
    })
  }
}
