import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import type { Mode } from '../../model/replay/replay.ts'
import type { TestSlice, TestStack } from '../../support/test-stack.ts'
import { jobsIn, KINDS, type Kind, type Part, type Seen } from './reader-kinds.ts'

const EVERY_MS = 60
const TIMEOUT_MS = 2_000

/** A slice that is read, and how its sets are replaced. */
export type ReadSlice = { readonly slice: TestSlice; readonly mode: Mode }

const nameOf = ({ distributor, month }: TestSlice): string => `${distributor} ${month}`

const isWhole = ({ rows, total, dueRows, dueTotal }: Part): boolean => rows === dueRows && total === dueTotal

/**
 * Reads slices again and again, in each of the ways in which settlement programs do: one whole set or none, never a part; and
 * in the mode standby never none behind a set.
 */
export class Reader {
  readonly #on: TestStack
  #isReading = false
  /** Slices of which a set was seen. */
  readonly #shown = new Set<string>()
  looks = 0

  constructor(on: TestStack) {
    this.#on = on
  }

  /** Begins to read; the answer ends it and says what was seen that may not be. */
  start(slices: () => readonly ReadSlice[]): () => Promise<string[]> {
    const found = new Set<string>()
    this.#isReading = true
    const turns = KINDS.map((kind) => this.#repeat(kind, slices, found))
    return async () => {
      this.#isReading = false
      await Promise.all(turns)
      return [...found]
    }
  }

  async #repeat(kind: Kind, slices: () => readonly ReadSlice[], found: Set<string>): Promise<void> {
    let connection: Connection | undefined
    let looks = 0
    while (this.#isReading) {
      for (const one of slices()) {
        try {
          connection ??= await this.#connect(kind)
          await this.#look(kind, connection, one, found)
          looks += 1
          this.looks += 1
        } catch {
          // MySQL is away, or somebody holds the set for long: that is the fault's doing, and who sees nothing sees no half.
          connection?.destroy()
          connection = undefined
        }
      }
      await sleep(EVERY_MS)
    }
    connection?.destroy()
    if (looks === 0) found.add(`${kind.name} never came to look`)
  }

  async #look(kind: Kind, connection: Connection, { slice, mode }: ReadSlice, found: Set<string>): Promise<void> {
    const name = nameOf(slice)
    const wasShown = this.#shown.has(name)
    const { parts, wrong } = await kind.look(connection, slice)
    if (parts.length > 0) this.#shown.add(name)
    const told = wrong ?? partly({ parts })
    if (told !== undefined) found.add(`${kind.name} of ${name} ${told}`)
    if (parts.length > 0 || !wasShown || mode === 'in-place' || (await this.#wasWithdrawn(connection, slice))) return
    found.add(`${kind.name} of ${name} saw nothing behind a set`)
  }

  /** Then it may have been seen to be gone. */
  async #wasWithdrawn(connection: Connection, { distributor, month }: TestSlice): Promise<boolean> {
    const [rows] = await connection.query<RowDataPacket[]>({
      sql: `select 1 from job j join distributor d on d.id = j.distributor_id
            where d.code = ? and j.settlement_month = ? and j.withdrawn_at is not null`,
      values: [distributor, `${month}-01`],
      timeout: TIMEOUT_MS,
    })
    return rows.length > 0
  }

  async #connect({ prepare }: Kind): Promise<Connection> {
    const { host, port, name, master } = this.#on.stack.database
    const connection = await createConnection({ host, port, database: name, ...master, connectTimeout: TIMEOUT_MS })
    connection.on('error', () => undefined)
    // Shorter than a statement's time here: who waits for a switch that is frozen does not stay in the server behind us.
    await connection.query('set session transaction_isolation = "REPEATABLE-READ", innodb_lock_wait_timeout = 1')
    if (prepare !== undefined) await connection.query(prepare)
    return connection
  }
}

const partly = ({ parts }: Seen): string | undefined => {
  const [part] = parts
  if (part === undefined || (parts.length === 1 && isWhole(part))) return undefined
  return `saw ${jobsIn(parts)}, where ${part.dueRows} rows and the sum ${part.dueTotal} were due, not ${part.total}`
}
