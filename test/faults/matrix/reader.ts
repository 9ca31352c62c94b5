import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import type { TestSlice, TestStack } from '../../support/test-stack.ts'

const EVERY_MS = 60

/** What a settlement program sees of a slice, and what its newest job promises, in one statement and so at one moment. */
const LOOK = `
  select (select count(*) from settled_share_ratio where distributor = ? and settlement_month = ?) as seen,
    (select if(j.state = 'REGISTERED', j.source_rows, 0) from job j join distributor d on d.id = j.distributor_id
      where d.code = ? and j.settlement_month = ? order by j.fence desc limit 1) as due`

/** Reads slices again and again, as the settlement programs do: all rows or none, never a part. */
export class Reader {
  readonly #on: TestStack
  #connection: Connection | undefined
  #isReading = false
  #turn: Promise<void> = Promise.resolve()
  looks = 0

  constructor(on: TestStack) {
    this.#on = on
  }

  /** Begins to read; the answer ends it and says which halves were seen. */
  start(slices: () => readonly TestSlice[]): () => Promise<string[]> {
    const found = new Set<string>()
    this.#isReading = true
    this.#turn = (async () => {
      while (this.#isReading) {
        for (const slice of slices()) await this.#look(slice, found)
        await sleep(EVERY_MS)
      }
    })()
    return async () => {
      this.#isReading = false
      await this.#turn
      this.#connection?.destroy()
      this.#connection = undefined
      return [...found]
    }
  }

  async #look({ distributor, month }: TestSlice, found: Set<string>): Promise<void> {
    const slice = [distributor, `${month}-01`]
    try {
      this.#connection ??= await this.#connect()
      const [rows] = await this.#connection.query<RowDataPacket[]>({
        sql: LOOK,
        values: [...slice, ...slice],
        timeout: 2_000,
      })
      // An expression's number may come as text.
      const { seen, due } = rows[0] as { seen: number; due: string | number | null }
      this.looks += 1
      if (seen !== Number(due ?? 0)) found.add(`a reader saw ${seen} rows of ${distributor} where ${due ?? 0} were due`)
    } catch {
      // MySQL is away: that is the fault's doing, and a reader that sees nothing sees no half.
      this.#connection?.destroy()
      this.#connection = undefined
    }
  }

  async #connect(): Promise<Connection> {
    const { host, port, name, master } = this.#on.stack.database
    const connection = await createConnection({ host, port, database: name, ...master, connectTimeout: 2_000 })
    connection.on('error', () => undefined)
    return connection
  }
}
