import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Address } from '../../../local/servers/find.ts'
import { lockPeers, openClient, type Retry } from './peers.ts'

/**
 * Starters that wait for one lock that is never released, in a process of their own: some libraries never stop trying.
 */
type Order = { readonly peer: string; readonly address: Address; readonly key: string } & {
  readonly starters: number
  readonly retry: Retry
}

const contend = async ({ peer, address, key, starters, retry }: Order): Promise<void> => {
  const found = lockPeers(retry).find(({ name }) => name === peer)
  if (found === undefined) throw new Error(`There is no lock ${peer}`)
  const client = await openClient(address)
  process.send?.('ready')
  await once(process, 'message')
  await Promise.all(Array.from({ length: starters }, (_, place) => found.wait(client, key, `starter-${place}/1`)))
}

/** Starts the process and, once it is connected, its starters. The one who started them kills them. */
export const startContention = async (order: Order, onStart: () => Promise<void>): Promise<ChildProcess> => {
  const child = fork(import.meta.filename, [JSON.stringify(order)])
  await once(child, 'message')
  await onStart()
  child.send('go')
  return child
}

if (import.meta.main) await contend(JSON.parse(process.argv[2] ?? '{}') as Order)
