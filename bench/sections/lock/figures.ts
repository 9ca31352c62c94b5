import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Sizes } from '../../harness/settings.ts'
import { startContention } from './contend.ts'
import type { LockPeer, Retry } from './peers.ts'

/** Round trips of each verb that are averaged. */
const CYCLES = 200
/** Locks used at once when throughput is measured, each under a key of its own. */
export const PARALLEL = 32
export const VERBS = ['acquire', 'verify', 'release'] as const
export type Verb = (typeof VERBS)[number]
export type Cost = { commands: number; roundTrips: number; ms: number[] }

/** Commands the server ran so far, those inside scripts included, without the asking itself. */
const commandsOf = async (client: Redis): Promise<number> => {
  const stats = await client.info('commandstats')
  return [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
    .filter(([, name]) => name !== 'info')
    .reduce((sum, [, , calls]) => sum + Number(calls), 0)
}

/** What each verb costs, one after the other on one connection. */
export const costs = async (peer: LockPeer, client: Redis, observer: Redis): Promise<Record<Verb, Cost>> => {
  let sent = 0
  const send = client.sendCommand.bind(client)
  client.sendCommand = (...args: Parameters<typeof send>) => {
    sent += 1
    return send(...args)
  }
  const found = Object.fromEntries(
    VERBS.map((verb) => [verb, { commands: 0, roundTrips: 0, ms: [] }]),
  ) as unknown as Record<Verb, Cost>
  const count = async <T>(verb: Verb, work: () => Promise<T>): Promise<T> => {
    const before = { commands: await commandsOf(observer), sent }
    const startedAt = performance.now()
    const result = await work()
    found[verb].ms.push(performance.now() - startedAt)
    found[verb].roundTrips += (sent - before.sent) / CYCLES
    found[verb].commands += ((await commandsOf(observer)) - before.commands) / CYCLES
    return result
  }
  const cycle = async (key: string) => {
    const held = await count('acquire', () => peer.acquire(client, key, 'bench/harness/1'))
    await count('verify', held.verify)
    await count('release', held.release)
  }
  // The first use loads scripts.
  await cycle('warm')
  for (const verb of VERBS) found[verb] = { commands: 0, roundTrips: 0, ms: [] }
  for (let turn = 0; turn < CYCLES; turn += 1) await cycle(`cost-${turn % 10}`)
  client.sendCommand = send
  return found
}

/** Whole cycles a second: acquire, verify, release, PARALLEL at a time on one connection. */
export const throughput = async (peer: LockPeer, client: Redis, seconds: number): Promise<number> => {
  let cycles = 0
  const startedAt = performance.now()
  const user = async (place: number): Promise<void> => {
    while (performance.now() - startedAt < seconds * 1_000) {
      const held = await peer.acquire(client, `through-${place}`, `bench-${place}/1`)
      await held.verify()
      await held.release()
      cycles += 1
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, (_, place) => user(place)))
  return cycles / ((performance.now() - startedAt) / 1_000)
}

/** Commands in each second, while all starters wait for a lock that stays held. */
export const contention = async (peer: LockPeer, client: Redis, port: number, sizes: Sizes, retry: Retry) => {
  const key = `contended-${peer.name}`
  await peer.acquire(client, key, 'holder/1')
  const address = { host: '127.0.0.1', port }
  const perSecond: number[] = []
  let before = 0
  const order = { peer: peer.name, address, key, starters: sizes.starters, retry }
  const child = await startContention(order, async () => {
    before = await commandsOf(client)
  })
  try {
    for (let second = 0; second < sizes.contentionS; second += 1) {
      await sleep(1_000)
      const now = await commandsOf(client)
      perSecond.push(now - before)
      before = now
    }
  } finally {
    child.kill('SIGKILL')
  }
  const all = perSecond.reduce((sum, commands) => sum + commands, 0)
  if (all < sizes.starters) throw new Error(`${peer.name}: ${sizes.starters} starters sent only ${all} commands`)
  return perSecond
}
