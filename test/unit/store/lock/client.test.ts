import type { Redis } from 'ioredis'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { LOCK_COMMAND_TIMEOUT_MS, LOCK_CONNECT_TIMEOUT_MS } from '../../../../functions/contract/limits.ts'
import { openLockClient } from '../../../../functions/store/lock/client.ts'
import { holderOf, tokenDigest } from '../../../../functions/store/lock/holder.ts'
import { runScript } from '../../../../functions/store/lock/run.ts'
import { lockAddress } from '../../../support/lock-address.ts'
import { FakeValkey, isHello, YES } from './fake-valkey.ts'

const fakes: FakeValkey[] = []
const clients: Redis[] = []

const fakeValkey = async (answer: Parameters<typeof FakeValkey.start>[0]): Promise<FakeValkey> => {
  const fake = await FakeValkey.start(answer)
  fakes.push(fake)
  return fake
}

const connect = async (fake: FakeValkey, change: Partial<Parameters<typeof openLockClient>[0]> = {}) => {
  const client = await openLockClient({ ...lockAddress('127.0.0.1', fake.port), ...change })
  clients.push(client)
  return client
}

const ask = (client: Parameters<typeof runScript>[0]) => runScript(client, 'return 1', 'key')

afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect()
  for (const fake of fakes.splice(0)) fake.stop()
})

describe('a failover', () => {
  test('leaves the client on a replica: the command fails by name, and the next one goes to the new primary', async () => {
    const fake = await fakeValkey((command, connection) =>
      connection === 1 && !isHello(command) ? '-READONLY a replica\r\n' : YES,
    )
    const client = await connect(fake)
    await expect(ask(client)).rejects.toMatchObject({ name: 'LockUnreachable' })
    await expect.poll(() => ask(client).catch(() => 0), { timeout: 5_000 }).toBe(1)
    expect(fake.connections).toHaveLength(2)
  })

  test('is not what another refusal is: it is told at once, on the same connection', async () => {
    const fake = await fakeValkey((command) => (isHello(command) ? YES : '-OOM no memory is left; not READONLY\r\n'))
    const client = await connect(fake)
    const refused = await ask(client).catch((error: unknown) => error)
    expect(refused).toMatchObject({ name: 'LockRefused', cause: { message: expect.stringContaining('OOM') } })
    await expect(ask(client)).rejects.toThrow('OOM')
    expect(fake.connections).toHaveLength(1)
  })
})

describe('a connection', () => {
  beforeAll(() => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'example')
    vi.stubEnv('AWS_SESSION_TOKEN', '')
    return () => vi.unstubAllEnvs()
  })

  const iam = { LOCK_AUTH: 'iam', LOCK_USER: 'sharelock-lock', LOCK_GROUP_ID: 'sharelock-group' } as const
  const passwords = (fake: FakeValkey): (readonly string[])[] =>
    fake.connections.map((commands) => commands.find(isHello)?.slice(3) ?? [])

  test('without IAM and user name proves nothing', async () => {
    const fake = await fakeValkey(() => YES)
    await ask(await connect(fake))
    expect(passwords(fake)).toEqual([[]])
  })

  test("with IAM gives a presigned request for the group's id as its password, good for 15 minutes", async () => {
    const fake = await fakeValkey(() => YES)
    await ask(await connect(fake, iam))
    const [[user, password = ''] = []] = passwords(fake)
    expect(user).toBe('sharelock-lock')
    const token = new URL(`https://${password}`)
    expect([token.host, token.pathname]).toEqual(['sharelock-group', '/'])
    expect(Object.fromEntries(token.searchParams)).toMatchObject({
      Action: 'connect',
      User: 'sharelock-lock',
      'X-Amz-Expires': '900',
      'X-Amz-Credential': expect.stringMatching(/^AKIDEXAMPLE\/\d{8}\/ap-northeast-2\/elasticache\/aws4_request$/),
      'X-Amz-SignedHeaders': 'host',
      'X-Amz-Signature': expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  test('with IAM whose token is refused comes once more with a new one, in the same call', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-10-10T00:00:00Z') })
    try {
      const fake = await fakeValkey((command, connection) => {
        if (connection === 1) vi.setSystemTime(new Date('2026-10-10T01:00:00Z'))
        return isHello(command) && connection === 1 ? '-WRONGPASS invalid pair\r\n' : YES
      })
      expect(await ask(await connect(fake, iam))).toBe(1)
      const dates = passwords(fake).map(([, password]) => /X-Amz-Date=(\w+)/.exec(password ?? '')?.[1])
      expect(dates).toEqual(['20261010T000000Z', '20261010T010000Z'])
    } finally {
      vi.useRealTimers()
    }
  })

  test('with IAM that is refused for good is named, and is no outage', async () => {
    const fake = await fakeValkey(() => '-WRONGPASS invalid pair\r\n')
    const client = await connect(fake, iam)
    await expect(ask(client)).rejects.toMatchObject({ name: 'LockRefused', message: /new token/ })
    expect(fake.connections).toHaveLength(2)
  })

  test('with IAM has a newer password after each end of the one before', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-10-10T00:00:00Z') })
    try {
      const fake = await fakeValkey(() => YES)
      const client = await connect(fake, iam)
      await ask(client)
      vi.setSystemTime(new Date('2026-10-10T01:00:00Z'))
      fake.drop()
      await expect.poll(() => ask(client).catch(() => 0), { timeout: 5_000 }).toBe(1)
      const dates = passwords(fake).map(([, password]) => /X-Amz-Date=(\w+)/.exec(password ?? '')?.[1])
      expect(dates).toEqual(['20261010T000000Z', '20261010T010000Z'])
    } finally {
      vi.useRealTimers()
    }
  })
})

describe('an answer that is no reply', () => {
  const answered = async (line: string) => {
    const fake = await fakeValkey((command) => (isHello(command) ? YES : `-${line}\r\n`))
    return await ask(await connect(fake)).catch((error: unknown) => error)
  }

  test.each([
    'LOADING the dataset',
    'MASTERDOWN link',
    'CLUSTERDOWN hash slot',
    'TRYAGAIN keys',
    'NOREPLICAS good',
    'BUSY a script',
  ])('%s is an outage, which passes', async (line) => {
    expect(await answered(line)).toMatchObject({ name: 'LockUnreachable', message: /Wait until/ })
  })

  test.each([
    'OOM command not allowed',
    'ERR max number of clients reached',
    'MISCONF errors writing',
    'NOAUTH required',
  ])('%s is refused by a name that no run goes around', async (line) => {
    expect(await answered(line)).toMatchObject({ name: 'LockRefused', message: new RegExp(line) })
  })

  test.each([
    'MOVED 1 10.0.0.1:6379',
    'ASK 1 10.0.0.1:6379',
    'CROSSSLOT keys',
    'NOPERM this user',
    'WRONGTYPE kind',
    'ERR whatever',
  ])('%s says how the server is set up, and is not waited for', async (line) => {
    expect(await answered(line)).toMatchObject({ name: 'LockMisconfigured', message: new RegExp(line) })
  })
})

describe('a client that never settles', () => {
  const limitMs = LOCK_CONNECT_TIMEOUT_MS + LOCK_COMMAND_TIMEOUT_MS
  test("is given up by name, and what it says later is nobody's error", async () => {
    vi.useFakeTimers()
    try {
      const { promise, reject } = Promise.withResolvers<unknown>()
      const asked = ask({ eval: () => promise })
      const failed = expect(asked).rejects.toMatchObject({ name: 'LockUnreachable', message: /no answer within/ })
      await vi.advanceTimersByTimeAsync(limitMs)
      await failed
      reject(new Error('late'))
    } finally {
      vi.useRealTimers()
    }
  })

  test('is the only one that is waited for: an answer leaves no timer behind', async () => {
    vi.useFakeTimers()
    try {
      expect(await ask({ eval: async () => 1 })).toBe(1)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})

test("a token shows its holder's name or a digest, never itself", () => {
  expect(holderOf('ARIA-2026-10-1/8c5f')).toBe('ARIA-2026-10-1')
  expect(tokenDigest('ARIA-2026-10-1/8c5f')).toMatch(/^[0-9a-f]{12}$/)
  expect(tokenDigest('ARIA-2026-10-1/8c5f')).not.toBe(tokenDigest('ARIA-2026-10-1/8c60'))
})
