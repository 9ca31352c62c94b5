import type { ResultSetHeader } from 'mysql2/promise'

/** What a value in a statement may be; mysql2 escapes each, arrays of rows included. */
export type Param = string | number | bigint | null | Date | Param[]

export type Options = {
  /** Until the statement is given up and killed. */
  readonly timeoutMs?: number
  /** How long it waits for another session of our user before that one is killed. */
  readonly patienceS?: number
}

/** Can only read: of a transaction, or one statement by itself. */
export type Reader = {
  rows<Row>(sql: string, params?: Param[], options?: Options): Promise<Row[]>
}

/**
 * Can run one statement that may be repeated. `affectedRows` counts the rows that changed, not all that matched.
 * What must happen together with something else takes a `Tx`.
 */
export type Changer = {
  change(sql: string, params?: Param[], options?: Options): Promise<ResultSetHeader>
}

export type Channel = Reader &
  Changer & {
    /** LOAD DATA LOCAL from memory: a body that is complete before the statement starts can't end half way. */
    load(sql: string, params: Param[], body: Buffer, options?: Options): Promise<ResultSetHeader>
  }

/**
 * A transaction that is open. Who has one is in it: `transaction` opens them and nothing else does, and after its end a
 * statement on it is refused and never sent. Only subclasses are made, so that no other object passes for one.
 */
export abstract class Tx implements Channel {
  readonly #channel: Channel

  protected constructor(channel: Channel) {
    this.#channel = channel
  }

  async rows<Row>(sql: string, params: Param[] = [], options: Options = {}): Promise<Row[]> {
    return await this.#channel.rows<Row>(sql, params, options)
  }

  async change(sql: string, params: Param[] = [], options: Options = {}): Promise<ResultSetHeader> {
    return await this.#channel.change(sql, params, options)
  }

  async load(sql: string, params: Param[], body: Buffer, options: Options = {}): Promise<ResultSetHeader> {
    return await this.#channel.load(sql, params, body, options)
  }
}

/** Makes the protected constructor callable here, and nowhere else. */
class OpenTx extends Tx {
  constructor(channel: Channel) {
    super(channel)
  }
}

/**
 * A transaction that was begun on `channel`.
 *
 * @param patienceS of each statement @param isOpen false once it has ended
 */
export const openTx = (channel: Channel, patienceS: number, isOpen: () => boolean): Tx => {
  const here = (): Channel => {
    if (isOpen()) return channel
    throw new Error('A statement came after the end of its transaction; it was not sent.')
  }
  return new OpenTx({
    rows: async (sql, params, options) => await here().rows(sql, params, { patienceS, ...options }),
    change: async (sql, params, options) => await here().change(sql, params, { patienceS, ...options }),
    load: async (sql, params, body, options) => await here().load(sql, params, body, { patienceS, ...options }),
  })
}
