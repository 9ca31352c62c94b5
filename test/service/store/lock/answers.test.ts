import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { messageOf } from '../../../../functions/contract/failures.ts'
import { LOCK_TTL_MS } from '../../../../functions/contract/limits.ts'
import { lockKey, type Slice } from '../../../../functions/contract/words.ts'
import { tryAcquire } from '../../../../functions/store/lock/acquire.ts'
import { type LockAddress, openLockClient } from '../../../../functions/store/lock/client.ts'
import { extend } from '../../../../functions/store/lock/extend.ts'
import { inspect } from '../../../../functions/store/lock/inspect.ts'
import { release } from '../../../../functions/store/lock/release.ts'
import { findValkey } from '../../../../local/servers/find.ts'
import { ValkeyServer } from '../../../../local/servers/valkey.ts'
import { lockAddress } from '../../../support/lock-address.ts'

/* What a real Valkey answers where it does not do what a lock asks, and what a run makes of it. */

const folder = mkdtempSync(join(tmpdir(), 'sharelock-answers-'))
const clients: Redis[] = []
const servers: ValkeyServer[] = []
let server: ValkeyServer
let admin: Redis

const start = async (name: string, extra: readonly string[] = []): Promise<ValkeyServer> => {
  // Of its own even where the shared one is somewhere else.
  const found = await findValkey({ PATH: process.env.PATH }, (line) => console.error(line))
  if (!('program' in found)) throw new Error('no program of Valkey was found')
  const started = await ValkeyServer.start(found.program, join(folder, name), { extra })
  servers.push(started)
  return started
}
const keep = (client: Redis): Redis => {
  client.on('error', () => undefined)
  clients.push(client)
  return client
}
const open = async (to: ValkeyServer = server, change: Partial<LockAddress> = {}) =>
  keep(await openLockClient({ ...lockAddress(to.host, to.port), ...change }))
const newSlice = (): Slice => ({ distributorId: 1, distributor: randomUUID().slice(0, 8), month: '2026-10' })
const failed = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  )

beforeAll(async () => {
  server = await start('one')
  admin = keep(new Redis({ host: server.host, port: server.port }))
})
afterEach(async () => {
  await admin.call('replicaof', 'no', 'one')
  await admin.config('SET', 'maxmemory', '0')
})
afterAll(async () => {
  for (const client of clients) client.disconnect()
  for (const one of servers) await one.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('a replica', () => {
  test('is believed in nothing about a lock, be it our own', async () => {
    const [held, free] = [newSlice(), newSlice()]
    await tryAcquire(await open(), held, 'a/1')
    await admin.call('replicaof', '127.0.0.1', '1')
    // A connection of its own for each: the one that was refused is given up.
    const asked: readonly ((client: Redis) => Promise<unknown>)[] = [
      (client) => tryAcquire(client, held, 'a/1'),
      (client) => tryAcquire(client, held, 'b/2'),
      (client) => tryAcquire(client, free, 'b/2'),
      (client) => extend(client, held, 'a/1'),
      (client) => extend(client, free, 'a/1'),
      (client) => release(client, held, 'b/2'),
      (client) => inspect(client, held),
      (client) => inspect(client, free),
    ]
    for (const ask of asked)
      expect(await failed(ask(await open()))).toMatchObject({ name: 'LockUnreachable', message: /READONLY/ })
    expect(await admin.get(lockKey(held))).toBe('a/1')
  })

  test('is left by the client: the next call finds the primary again', async () => {
    const slice = newSlice()
    const client = await open()
    expect(await tryAcquire(client, slice, 'a/1')).toBeNull()
    await admin.call('replicaof', '127.0.0.1', '1')
    const seen = await admin.call('client', 'list', 'type', 'normal')
    expect(await failed(extend(client, slice, 'a/1'))).toMatchObject({ name: 'LockUnreachable' })
    await admin.call('replicaof', 'no', 'one')
    await expect.poll(() => extend(client, slice, 'a/1').catch(() => -1), { timeout: 20_000 }).toBeGreaterThanOrEqual(0)
    expect(await admin.call('client', 'list', 'type', 'normal')).not.toBe(seen)
  })
})

describe('a full Valkey', () => {
  test('takes no new lock, by its own name, and lets the held ones be extended, seen and released', async () => {
    const [held, late] = [newSlice(), newSlice()]
    const client = await open()
    await tryAcquire(client, held, 'a/1')
    await admin.config('SET', 'maxmemory', '1')
    expect(await failed(tryAcquire(client, late, 'b/2'))).toMatchObject({
      name: 'LockRefused',
      message: /OOM.*memory is full/s,
    })
    expect(await extend(client, held, 'a/1')).toBeLessThan(LOCK_TTL_MS)
    expect(await inspect(client, held)).toMatchObject({ holder: 'a' })
    expect(await release(client, held, 'a/1')).toBe(true)
  })
})

describe('a login', () => {
  test('that the server does not know is refused by its own name, and again', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'example')
    const iam = { LOCK_AUTH: 'iam', LOCK_USER: 'locks', LOCK_GROUP_ID: 'group' } as const
    const client = await open(server, iam)
    for (let time = 1; time <= 3; time++)
      expect(await failed(inspect(client, newSlice()))).toMatchObject({
        name: 'LockRefused',
        message: /WRONGPASS.*LOCK_USER/s,
      })
    vi.unstubAllEnvs()
  })

  test('that the server asks for and we do not have is refused by its own name', async () => {
    const closed = await start('closed')
    await keep(new Redis({ host: closed.host, port: closed.port })).config('SET', 'requirepass', 'secret')
    expect(await failed(inspect(await open(closed), newSlice()))).toMatchObject({
      name: 'LockRefused',
      message: /NOAUTH/,
    })
  })

  test('may not do what a lock needs: that is how the server is set up, and not an outage', async () => {
    for (const missing of ['eval', 'get', 'pttl']) {
      await admin.call('acl', 'setuser', 'default', 'on', 'nopass', '~*', '&*', '+@all', `-${missing}`)
      const slice = newSlice()
      await admin.set(lockKey(slice), 'a/1', 'PX', 60_000)
      const error = await failed(inspect(await open(), slice))
      await admin.call('acl', 'setuser', 'default', '+@all')
      expect(error, missing).toMatchObject({
        name: 'LockMisconfigured',
        message: /access string of this stage's locks/,
      })
    }
  })

  test('that no connection is left for is refused by its own name', async () => {
    const narrow = await start('narrow', ['--maxclients', '1'])
    await keep(new Redis({ host: narrow.host, port: narrow.port })).ping()
    expect(await failed(inspect(await open(narrow), newSlice()))).toMatchObject({
      name: 'LockRefused',
      message: /max number of clients.*connections/s,
    })
  })
})

describe('a server that is set up otherwise', () => {
  test("a stranger's value under the key is named as one", async () => {
    const slice = newSlice()
    await admin.lpush(lockKey(slice), 'x')
    for (const ask of [tryAcquire, extend, release])
      expect(await failed(ask(await open(), slice, 'a/1')), ask.name).toMatchObject({
        name: 'LockMisconfigured',
        message: /WRONGTYPE.*delete the key/s,
      })
  })

  test('a node of a cluster that does not serve the slot is one; a cluster that is not up is an outage', async () => {
    const [node, other] = [
      await start('node', ['--cluster-enabled', 'yes']),
      await start('other', ['--cluster-enabled', 'yes']),
    ]
    const slice = newSlice()
    expect(await failed(inspect(await open(node), slice))).toMatchObject({
      name: 'LockUnreachable',
      message: /CLUSTERDOWN/,
    })
    const [here, there] = [node, other].map(({ host, port }) => keep(new Redis({ host, port })))
    if (here === undefined || there === undefined) throw new Error('two nodes were started')
    await there.cluster('ADDSLOTSRANGE', 0, 16_383)
    await here.cluster('MEET', other.host, other.port)
    await expect
      .poll(async () => await failed(inspect(await open(node), slice)), { timeout: 60_000, interval: 500 })
      .toMatchObject({ name: 'LockMisconfigured', message: /MOVED.*cluster mode/s })
  })

  test('a command that it does not know is told without the token in it', async () => {
    const poor = await start('poor', ['--rename-command', 'EVAL', ''])
    const error = await failed(tryAcquire(await open(poor), newSlice(), 'aria-2026-10-1/secret'))
    expect(error).toMatchObject({ name: 'LockMisconfigured', message: /unknown command 'eval'/i })
    expect(messageOf(error)).not.toMatch(/secret|redis\.call/)
  })
})

describe('how long a lock lasts', () => {
  test('is what Valkey says, and not what we would have set', async () => {
    const slice = newSlice()
    const client = await open()
    await tryAcquire(client, slice, 'a/1')
    await admin.pexpire(lockKey(slice), 86_400_000)
    const [seen, held] = [await inspect(client, slice), await tryAcquire(client, slice, 'b/2')]
    for (const lock of [seen, held]) {
      expect(lock?.remainingMs).toBeGreaterThan(86_000_000)
      expect(lock?.remainingMs).toBeLessThanOrEqual(86_400_000)
    }
  })

  test('without an end is told from every number, and ends with the next extension', async () => {
    const slice = newSlice()
    const client = await open()
    await admin.set(lockKey(slice), 'a/1')
    expect(await inspect(client, slice)).toMatchObject({ remainingMs: null })
    expect(await tryAcquire(client, slice, 'b/2')).toEqual({ holder: 'a', remainingMs: null })
    expect(await extend(client, slice, 'a/1')).toBe(0)
    expect((await inspect(client, slice))?.remainingMs).toBeLessThanOrEqual(LOCK_TTL_MS)
  })
})
