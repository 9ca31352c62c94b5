import { Readable } from 'node:stream'
import { type Connection, createConnection } from 'mysql2/promise'
import { monthDate, type Slice } from '../../functions/contract/words.ts'
import { stageConfig } from '../../infra/config/stages.ts'
import type { Stack } from '../../local/stack.ts'
import type { StagedFile } from './staged-file.ts'

/*
 * The physical floor: the same statements on as many connections as Sharelock has lanes, a transaction a chunk, and
 * nothing else: no lock, no guard, no ledger, no worker processes, no object store.
 */

/** Production's lanes; the bare statements get as many connections. */
export const LANES = stageConfig('prod').lanes

const connectionOf = ({ database: { host, port, app, name } }: Stack): Promise<Connection> =>
  createConnection({ host, port, user: app.user, password: app.password, database: name })

/** Runs `jobs` on `lanes` connections; a lane takes the next job when it is done with one. @returns milliseconds */
const onLanes = async <Job>(
  stack: Stack,
  lanes: number,
  jobs: readonly Job[],
  work: (connection: Connection, job: Job) => Promise<unknown>,
): Promise<number> => {
  const connections = await Promise.all(Array.from({ length: lanes }, () => connectionOf(stack)))
  const queue = [...jobs]
  const startedAt = performance.now()
  await Promise.all(
    connections.map(async (connection) => {
      for (let job = queue.shift(); job !== undefined; job = queue.shift()) await work(connection, job)
    }),
  )
  const elapsedMs = performance.now() - startedAt
  for (const connection of connections) connection.destroy()
  return elapsedMs
}

/** Bare parallel LOAD DATA LOCAL of a staged file, in memory already. @returns milliseconds */
export const bareRegisterMs = (stack: Stack, slice: Slice, staged: StagedFile, lanes = LANES): Promise<number> =>
  onLanes(stack, lanes, staged.bodies, (connection, body) =>
    connection.query({
      sql: `load data local infile 'x' into table share_ratio character set ascii fields terminated by '\\t' escaped by ''
            lines terminated by '\\n' (isrc, right_type, party_id, share) set distributor_id = ?, settlement_month = ?, slot = 0`,
      values: [slice.distributorId, monthDate(slice.month)],
      infileStreamFactory: () => Readable.from([body], { objectMode: false }),
    }),
  )

/** Bare parallel range DELETE, by the ranges of a staged file. @returns milliseconds */
export const bareDeleteMs = (stack: Stack, slice: Slice, staged: StagedFile, lanes = LANES): Promise<number> =>
  onLanes(stack, lanes, staged.manifest.chunks, (connection, chunk) =>
    connection.query(
      'delete from share_ratio where distributor_id = ? and settlement_month = ? and slot = 0 and isrc >= ? and isrc <= ?',
      [slice.distributorId, monthDate(slice.month), chunk.firstIsrc, chunk.lastIsrc],
    ),
  )
