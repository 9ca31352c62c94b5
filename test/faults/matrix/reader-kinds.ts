import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import type { TestSlice } from '../../support/test-stack.ts'

/*
 * The ways in which settlement programs read a month: see docs/readers.md. Whoever locks what it reads holds it for a moment,
 * so that a switch may meet it, and takes back what it wrote.
 */

/** The rows of one job in what was read, and what that job promised. */
export type Part = {
  readonly job: number
  readonly rows: number
  readonly total: string
  readonly dueRows: number | null
  readonly dueTotal: string | null
}

/** One look at a slice: its parts, one where a whole set was seen and none where nothing was shown; and what is wrong beside. */
export type Seen = { readonly parts: readonly Part[]; readonly wrong?: string }

export type Kind = {
  readonly name: string
  readonly prepare?: string
  readonly look: (connection: Connection, slice: TestSlice) => Promise<Seen>
}

const HOLD_MS = 15
const TIMEOUT_MS = 2_000

const SUMS = 'job_id as job, count(*) as `rows`, sum(share) as total'
const SET = 'from settled_share_ratio where distributor = ? and settlement_month = ?'
const PARTS = `select ${SUMS} ${SET} group by job_id`
const PROMISED = 'p.*, j.source_rows as dueRows, j.source_share_sum as dueTotal'

const monthOf = ({ distributor, month }: TestSlice): string[] => [distributor, `${month}-01`]

const ask = async <Row>(connection: Connection, sql: string, values: readonly unknown[] = []): Promise<Row[]> => {
  const [rows] = await connection.query<RowDataPacket[]>({ sql, values: [...values], timeout: TIMEOUT_MS })
  return rows as Row[]
}

/** What the jobs promised, read without a lock. */
const withPromises = async (connection: Connection, parts: readonly Part[]): Promise<Part[]> => {
  const found: Part[] = []
  for (const part of parts) {
    const [due] = await ask<Pick<Part, 'dueRows' | 'dueTotal'>>(
      connection,
      'select source_rows as dueRows, source_share_sum as dueTotal from job where id = ?',
      [part.job],
    )
    found.push({ ...part, dueRows: due?.dueRows ?? null, dueTotal: due?.dueTotal ?? null })
  }
  return found
}

/** A transaction that is held open for a moment and taken back. */
const inTransaction = async <T>(connection: Connection, work: () => Promise<T>): Promise<T> => {
  await ask(connection, 'start transaction')
  const seen = await work()
  await sleep(HOLD_MS)
  await ask(connection, 'rollback')
  return seen
}

const plain: Kind = {
  name: 'a plain select',
  look: async (connection, slice) => ({
    parts: await ask<Part>(
      connection,
      `select ${PROMISED} from (${PARTS}) p left join job j on j.id = p.job`,
      monthOf(slice),
    ),
  }),
}

const locking: Kind = {
  name: 'a select for share',
  look: (connection, slice) =>
    inTransaction(connection, async () => {
      const parts = await ask<Part>(connection, `${PARTS} for share`, monthOf(slice))
      return { parts: await withPromises(connection, parts) }
    }),
}

const copying: Kind = {
  name: 'an insert ... select',
  prepare: 'create temporary table if not exists reader_copy (job_id bigint unsigned, share decimal(9, 6))',
  look: (connection, slice) =>
    inTransaction(connection, async () => {
      await ask(connection, `insert into reader_copy select job_id, share ${SET}`, monthOf(slice))
      const parts = await ask<Part>(connection, `select ${SUMS} from reader_copy group by job_id`)
      return { parts: await withPromises(connection, parts) }
    }),
}

const SIGNALLED = 1644

/** What `require_settled_slice` holds until the transaction ends is what the next statement reads. */
const requiring: Kind = {
  name: 'require_settled_slice and a select',
  look: (connection, slice) =>
    inTransaction(connection, async () => {
      try {
        await ask(connection, 'call require_settled_slice(?, ?)', [slice.distributor, slice.month])
      } catch (error) {
        if ((error as { errno?: number }).errno === SIGNALLED) return { parts: [] }
        throw error
      }
      const parts = await withPromises(connection, await ask<Part>(connection, PARTS, monthOf(slice)))
      const [held] = await ask<{ job: number | null }>(
        connection,
        `select a.job_id as job from active_set a
         where a.distributor_id = (select id from distributor where code = ?) and a.settlement_month = ? for share of a`,
        monthOf(slice),
      )
      if (parts.length === 1 && parts[0]?.job === held?.job) return { parts }
      return { parts, wrong: `read ${jobsIn(parts)} and held the set of job ${held?.job ?? 'none'}` }
    }),
}

export const jobsIn = (parts: readonly Part[]): string =>
  parts.length === 0 ? 'nothing' : parts.map(({ job, rows }) => `${rows} rows of job ${job}`).join(' and ')

export const KINDS: readonly Kind[] = [plain, locking, copying, requiring]
