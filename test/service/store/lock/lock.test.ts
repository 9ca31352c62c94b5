import { randomUUID } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import type { Redis } from 'ioredis'
import { afterAll, afterEach, describe, expect, inject, test } from 'vitest'
import { lockKey, type Slice } from '../../../../functions/contract/words.ts'
import { tryAcquire } from '../../../../functions/store/lock/acquire.ts'
import { type LockAddress, openLockClient } from '../../../../functions/store/lock/client.ts'
import { extend } from '../../../../functions/store/lock/extend.ts'
import { inspect } from '../../../../functions/store/lock/inspect.ts'
import { release } from '../../../../functions/store/lock/release.ts'
import { lockAddress } from '../../../support/lock-address.ts'

const valkey = inject('valkey')
const clients: Redis[] = []
const open = async (host = valkey.host, port = valkey.port, change: Partial<LockAddress> = {}) => {
  const client = await openLockClient({ ...lockAddress(host, port), ...change })
  clients.push(client)
  return client
}
afterAll(() => {
  for (const client of clients) client.disconnect()
})

const newSlice = (): Slice => ({ distributorId: 1, distributor: randomUUID().slice(0, 8), month: '2026-10' })

describe('acquiring', () => {
  test('one of twenty simultaneous acquirers gets the lock and the others learn its name', async () => {
    const slice = newSlice()
    const client = await open()
    const tokens = Array.from({ length: 20 }, (_, index) => `run-${index}/${randomUUID()}`)
    const results = await Promise.all(tokens.map((token) => tryAcquire(client, slice, token)))
    const winners = tokens.filter((_, index) => results[index] === null)
    expect(winners).toHaveLength(1)
    const held = results.filter((result) => result !== null)
    expect(new Set(held.map((result) => result.holder))).toEqual(new Set([winners[0]?.split('/')[0]]))
  })

  test('a call repeated with the same token, after a lost reply, is answered "mine"', async () => {
    const slice = newSlice()
    const client = await open()
    expect(await tryAcquire(client, slice, 'a/1')).toBeNull()
    expect(await tryAcquire(client, slice, 'a/1')).toBeNull()
  })

  test('a lock whose acquisition took most of its TTL is refused, and gone', async () => {
    const slice = newSlice()
    const client = await open()
    const slow = {
      eval: async (script: string, keys: number, key: string, ...args: (string | number)[]) => {
        const reply = await client.eval(script, keys, key, ...args)
        await new Promise((resume) => setTimeout(resume, 120))
        return reply
      },
    }
    await expect(tryAcquire(slow, slice, 'a/1', 200)).rejects.toMatchObject({ name: 'LockUnreachable' })
    expect(await client.get(lockKey(slice))).toBeNull()
  })

  test('a refusal tells the holder but not its token', async () => {
    const slice = newSlice()
    const client = await open()
    await tryAcquire(client, slice, 'aria-2026-10-1/secret', 60_000)
    const held = await tryAcquire(client, slice, 'b/2')
    expect(held?.holder).toBe('aria-2026-10-1')
    expect(JSON.stringify(held)).not.toContain('secret')
    expect(held?.remainingMs).toBeGreaterThan(50_000)
  })
})

describe('extending', () => {
  test('a renewal gives a held lock its whole TTL again', async () => {
    const slice = newSlice()
    const client = await open()
    await tryAcquire(client, slice, 'a/1', 5_000)
    await extend(client, slice, 'a/1', 60_000)
    expect(await client.pttl(lockKey(slice))).toBeGreaterThan(50_000)
  })

  test('a renewal after expiry, acquisition and release by another creates no lock', async () => {
    const slice = newSlice()
    const client = await open()
    await tryAcquire(client, slice, 'a/1')
    await client.pexpire(lockKey(slice), 1)
    await expect.poll(() => client.exists(lockKey(slice))).toBe(0)
    expect(await tryAcquire(client, slice, 'b/2')).toBeNull()
    await expect(extend(client, slice, 'a/1')).rejects.toMatchObject({ name: 'LockLost', message: /taken by b/ })
    expect(await release(client, slice, 'b/2')).toBe(true)
    await expect(extend(client, slice, 'a/1')).rejects.toMatchObject({ name: 'LockLost', message: /expired/ })
    expect(await client.exists(lockKey(slice))).toBe(0)
  })

  test("a stranger's renewal leaves the holder's TTL as it is", async () => {
    const slice = newSlice()
    const client = await open()
    await tryAcquire(client, slice, 'a/1', 5_000)
    await expect(extend(client, slice, 'b/2', 60_000)).rejects.toMatchObject({ name: 'LockLost' })
    expect(await client.pttl(lockKey(slice))).toBeLessThanOrEqual(5_000)
  })
})

describe('releasing', () => {
  test("another run's cleanup does not delete the lock", async () => {
    const slice = newSlice()
    const client = await open()
    await tryAcquire(client, slice, 'b/2')
    expect(await release(client, slice, 'a/1')).toBe(false)
    expect((await inspect(client, slice))?.holder).toBe('b')
  })

  test('the holder releases once; the second call finds nothing of its own', async () => {
    const slice = newSlice()
    const client = await open()
    await tryAcquire(client, slice, 'a/1')
    expect(await release(client, slice, 'a/1')).toBe(true)
    expect(await release(client, slice, 'a/1')).toBe(false)
    expect(await inspect(client, slice)).toBeNull()
  })
})

describe('a server that does not behave', () => {
  const servers: Server[] = []
  const sockets: Socket[] = []
  const listen = async (onSocket: (socket: Socket) => void): Promise<number> => {
    const server = createServer((socket) => {
      sockets.push(socket)
      socket.on('error', () => undefined)
      onSocket(socket)
    })
    servers.push(server)
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
    return (server.address() as { port: number }).port
  }
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy()
    for (const server of servers.splice(0)) server.close()
  })

  /** Connecting and a command take four at most; a busy machine is given more, and a client without bounds takes minutes. */
  const SECONDS_MS = 20_000

  const settles = async (client: Redis): Promise<number> => {
    const startedAt = performance.now()
    await expect(extend(client, newSlice(), 'a/1')).rejects.toMatchObject({ name: 'LockUnreachable' })
    return performance.now() - startedAt
  }

  test('that accepts and stays silent fails in seconds', async () => {
    const port = await listen(() => undefined)
    expect(await settles(await open('127.0.0.1', port))).toBeLessThan(SECONDS_MS)
  })

  test('that drops the socket in mid-command fails in seconds', async () => {
    const port = await listen((socket) => socket.once('data', () => socket.destroy()))
    expect(await settles(await open('127.0.0.1', port))).toBeLessThan(SECONDS_MS)
  })

  test('that speaks plain text to a TLS client fails in seconds', async () => {
    expect(await settles(await open(valkey.host, valkey.port, { LOCK_TLS: 'verify' }))).toBeLessThan(SECONDS_MS)
  })

  test('that refuses the connection fails in seconds', async () => {
    expect(await settles(await open('127.0.0.1', 1))).toBeLessThan(SECONDS_MS)
  })

  test('that comes back is used again by the same client', async () => {
    let broken = true
    const port = await listen((socket) => {
      if (broken) socket.destroy()
      else socket.on('data', () => socket.write('*1\r\n$4\r\nheld\r\n'))
    })
    const client = await open('127.0.0.1', port)
    await settles(client)
    broken = false
    await expect
      .poll(
        () =>
          extend(client, newSlice(), 'a/1').then(
            () => 'held',
            () => 'lost',
          ),
        { timeout: 10_000 },
      )
      .toBe('held')
  })
})
