import { type ChildProcess, fork } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { createConnection } from 'mysql2/promise'
import type { Slice } from '../../functions/contract/words.ts'
import type { Stack } from '../../local/stack.ts'

/**
 * A settlement program in a process of its own: every PERIOD_MS it reads the shares of 100 tracks of one slice through
 * the view, as a batch of sales needs them. Run as a program it reads until it is asked for its latencies.
 */
const PERIOD_MS = 20
const TRACKS = 100

type Order = { readonly host: string; readonly port: number; readonly user: string; readonly password: string } & {
  readonly database: string
  readonly distributor: string
  readonly month: string
}

const QUERY = `select isrc, right_type, party_id, share from settled_share_ratio
  where distributor = ? and settlement_month = ? and isrc in (?)`

const read = async ({ distributor, month, ...address }: Order): Promise<void> => {
  const connection = await createConnection(address)
  const [tracks] = await connection.query<never[]>(
    'select distinct isrc from settled_share_ratio where distributor = ? and settlement_month = ?',
    [distributor, `${month}-01`],
  )
  const isrcs = (tracks as { isrc: string }[]).map(({ isrc }) => isrc)
  let latencies: number[] = []
  process.on('message', () => {
    process.send?.(latencies)
    latencies = []
  })
  process.send?.('ready')
  for (let turn = 0; ; turn += 1) {
    // Another stretch of the slice each time, by a step that is prime to most lengths.
    const from = (turn * 7_919) % Math.max(isrcs.length - TRACKS, 1)
    const startedAt = performance.now()
    const [rows] = await connection.query<never[]>(QUERY, [
      distributor,
      `${month}-01`,
      isrcs.slice(from, from + TRACKS),
    ])
    const elapsedMs = performance.now() - startedAt
    if (rows.length === 0) throw new Error('the settled slice reads as empty')
    latencies.push(elapsedMs)
    await sleep(Math.max(PERIOD_MS - elapsedMs, 0))
  }
}

const answer = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', () => reject(new Error('the reader has ended')))
  })

export type Reader = {
  /** Latencies since the last call, in milliseconds. */
  readonly take: () => Promise<number[]>
  readonly stop: () => void
}

export const startReader = async ({ database }: Stack, slice: Slice): Promise<Reader> => {
  const { host, port, name, master } = database
  const order: Order = { host, port, ...master, database: name, distributor: slice.distributor, month: slice.month }
  const child = fork(import.meta.filename, [JSON.stringify(order)])
  child.setMaxListeners(0)
  await answer(child)
  return {
    take: async () => {
      const latencies = answer(child)
      child.send('take')
      return (await latencies) as number[]
    },
    stop: () => child.kill('SIGKILL'),
  }
}

if (import.meta.main) await read(JSON.parse(process.argv[2] ?? '{}') as Order)
