import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Mutex } from 'redis-semaphore'
import Redlock from 'redlock'
import type { Slice } from '../../../functions/contract/words.ts'
import { tryAcquire } from '../../../functions/store/lock/acquire.ts'
import { extend } from '../../../functions/store/lock/extend.ts'
import { release } from '../../../functions/store/lock/release.ts'
import type { Address } from '../../../local/servers/find.ts'

/** The lock libraries beside Sharelock's own, each with its defaults, on one server. */

const TTL_MS = 60_000

type Held = { readonly verify: () => Promise<unknown>; readonly release: () => Promise<unknown> }

export type LockPeer = {
  readonly name: string
  /** Takes a free lock. */
  readonly acquire: (client: Redis, key: string, token: string) => Promise<Held>
  /** Waits for a lock that is held, as the library's own policy has it; never ends here. */
  readonly wait: (client: Redis, key: string, token: string) => Promise<unknown>
}

export const openClient = ({ host, port }: Address): Promise<Redis> => {
  const client = new Redis({ host, port, lazyConnect: true })
  // Ends at the end of a measurement, with calls under way.
  client.on('error', () => undefined)
  return client.connect().then(() => client)
}

const redisSemaphore: LockPeer = {
  name: 'redis-semaphore',
  acquire: async (client, key) => {
    // A mutex renews itself in the background by default; here it is asked to, as the others are.
    const options = { lockTimeout: TTL_MS, refreshInterval: 0 }
    const mutex = new Mutex(client, key, options)
    await mutex.acquire()
    // Acquiring a mutex that is held already is its refresh script.
    const again = { ...options, identifier: mutex.identifier, acquiredExternally: true } as const
    return { verify: () => new Mutex(client, key, again).acquire(), release: () => mutex.release() }
  },
  wait: (client, key) => new Mutex(client, key, { acquireTimeout: 3_600_000, refreshInterval: 0 }).acquire(),
}

const redlock: LockPeer = {
  name: 'redlock',
  acquire: async (client, key) => {
    let lock = await new Redlock([client]).lock(key, TTL_MS)
    return {
      verify: async () => {
        lock = await lock.extend(TTL_MS)
      },
      release: () => lock.unlock(),
    }
  },
  // Ten tries by default; more, so that all wait for as long as the others do.
  wait: (client, key) => new Redlock([client], { retryCount: -1 }).lock(key, TTL_MS),
}

const sliceOf = (key: string): Slice => ({ distributorId: 1, distributor: key, month: '2026-10' })

/** Delays between two tries of a waiting execution: Step Functions’ Retry on AcquireLock, full jitter. */
export type Retry = { readonly intervalS: number; readonly backoffRate: number; readonly delayMaxS: number }

const sharelock = (retry: Retry): LockPeer => ({
  name: 'Sharelock',
  acquire: async (client, key, token) => {
    await tryAcquire(client, sliceOf(key), token, TTL_MS)
    return {
      verify: () => extend(client, sliceOf(key), token, TTL_MS),
      release: () => release(client, sliceOf(key), token),
    }
  },
  wait: async (client, key, token) => {
    for (let attempt = 0; (await tryAcquire(client, sliceOf(key), token, TTL_MS)) !== null; attempt += 1) {
      const delayS = Math.min(retry.intervalS * retry.backoffRate ** attempt, retry.delayMaxS)
      await sleep(Math.random() * delayS * 1_000)
    }
  },
})

export const lockPeers = (retry: Retry): readonly LockPeer[] => [sharelock(retry), redisSemaphore, redlock]
