import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import type { TestSlice, TestStack } from '../../support/test-stack.ts'
import type { Head } from './observe.ts'

/** What one statement saw at one moment: the newest job, whose set is shown, and whether all of it was there. */
export type Look = { readonly head: Head | undefined; readonly shown: number | null; readonly isWhole: boolean }

/** For how long a locking reader held the set that is shown; seconds since 1970, within what the server held. */
export type Hold = { readonly from: number; readonly to: number; readonly shown: number }

const EVERY_MS = 40
const TIMEOUT_MS = 2_000
const HOLD_MS = 10

const HOLD = `
  select a.job_id as shown from distributor d straight_join active_set a on a.distributor_id = d.id
  where d.code = ? and a.settlement_month = ? for share`

const nowS = (): number => (performance.timeOrigin + performance.now()) / 1_000

const LOOK = `
  select j.id, j.fence, j.state, a.job_id as shown,
         (select count(*) from settled_share_ratio s
          where s.distributor_id = d.id and s.settlement_month = ?) as seen,
         (select p.source_rows from job p where p.id = a.job_id) as due
  from distributor d
  left join active_set a on a.distributor_id = d.id and a.settlement_month = ?
  left join job j on j.distributor_id = d.id and j.settlement_month = ?
       and j.fence = (select max(n.fence) from job n where n.distributor_id = d.id and n.settlement_month = ?)
  where d.code = ?`

type Seen = { id: number | null; fence: number; state: string; shown: number | null; seen: number; due: string | null }

/** A reader of a slice, again and again. */
export class Looks {
  readonly looks: Look[] = []
  readonly holds: Hold[] = []
  readonly #on: TestStack
  readonly #slice: TestSlice
  #isReading = true
  readonly #turns: Promise<unknown>

  private constructor(on: TestStack, slice: TestSlice) {
    this.#on = on
    this.#slice = slice
    this.#turns = Promise.all([this.#repeat(this.#look), this.#repeat(this.#hold)])
  }

  static start(on: TestStack, slice: TestSlice): Looks {
    return new Looks(on, slice)
  }

  async stop(): Promise<void> {
    this.#isReading = false
    await this.#turns
  }

  async #repeat(once: (connection: Connection) => Promise<void>): Promise<void> {
    let connection: Connection | undefined
    while (this.#isReading) {
      try {
        connection ??= await this.#connect()
        await once(connection)
      } catch {
        // MySQL is away: that is a fault's doing.
        connection?.destroy()
        connection = undefined
      }
      await sleep(EVERY_MS)
    }
    connection?.destroy()
  }

  #look = async (connection: Connection): Promise<void> => {
    const { distributor, month } = this.#slice
    const date = `${month}-01`
    const values = [date, date, date, date, distributor]
    const [rows] = await connection.query<RowDataPacket[]>({ sql: LOOK, values, timeout: TIMEOUT_MS })
    const { id, fence, state, shown, seen, due } = rows[0] as Seen
    const head = id === null ? undefined : { job: id, fence, state }
    const look = { head, shown, isWhole: seen === Number(due ?? 0) }
    if (JSON.stringify(look) !== JSON.stringify(this.looks.at(-1))) this.looks.push(look)
  }

  /** Holds what is shown for a moment, as a reader with locks does. */
  #hold = async (connection: Connection): Promise<void> => {
    const { distributor, month } = this.#slice
    const ask = async (sql: string, values: string[] = []) =>
      (await connection.query<RowDataPacket[]>({ sql, values, timeout: TIMEOUT_MS }))[0]
    await ask('start transaction')
    const [row] = await ask(HOLD, [distributor, `${month}-01`])
    const from = nowS()
    await sleep(HOLD_MS)
    const to = nowS()
    await ask('rollback')
    if (row !== undefined && row.shown !== null) this.holds.push({ from, to, shown: row.shown })
  }

  async #connect(): Promise<Connection> {
    const { host, port, name, master } = this.#on.stack.database
    const connection = await createConnection({ host, port, database: name, ...master, connectTimeout: TIMEOUT_MS })
    connection.on('error', () => undefined)
    return connection
  }
}
