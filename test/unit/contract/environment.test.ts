import { describe, expect, test } from 'vitest'
import { readEnv } from '../../../functions/contract/env.ts'
import { MasterSecret, readMigratorEnv } from '../../../functions/contract/migrator-env.ts'

const GOOD = { STAGE: 'x', BUCKET: 'b', DATABASE_HOST: 'db.example', DATABASE_USER: 'u', LOCK_HOST: 'lock.example' }
const MIGRATOR = {
  AWS_REGION: 'ap-northeast-2',
  DATABASE_HOST: 'db.example',
  DATABASE_USER: 'sharelock',
  MASTER_SECRET_ARN: 'arn:aws:secretsmanager:ap-northeast-2:000000000000:secret:master',
}

describe("a function's environment", () => {
  const takes = (change: Record<string, string>): boolean => {
    try {
      readEnv({ ...GOOD, ...change })
      return true
    } catch {
      return false
    }
  }

  test('goes without TLS to this very machine only', () => {
    const local = ['localhost', '127.0.0.1', '127.10.20.30', '::1']
    const remote = ['db.example', '10.0.0.1', '127.0.0.1.example', 'localhost.example', 'my-localhost', '::10']
    for (const [host, tls] of [
      ['DATABASE_HOST', 'DATABASE_TLS'],
      ['LOCK_HOST', 'LOCK_TLS'],
    ] as const) {
      expect(local.filter((name) => !takes({ [host]: name, [tls]: 'off' }))).toEqual([])
      expect(remote.filter((name) => takes({ [host]: name, [tls]: 'off' }))).toEqual([])
    }
  })

  test('has ports from 1 to 65535, and the usual ones where it names none', () => {
    for (const port of ['1', '3307', '65535'])
      expect(readEnv({ ...GOOD, DATABASE_PORT: port, LOCK_PORT: port })).toMatchObject({
        DATABASE_PORT: Number(port),
        LOCK_PORT: Number(port),
      })
    for (const port of ['0', '-1', '65536', '3306.5', 'mysql']) {
      expect(takes({ DATABASE_PORT: port })).toBe(false)
      expect(takes({ LOCK_PORT: port })).toBe(false)
    }
    expect(readEnv(GOOD)).toMatchObject({ DATABASE_PORT: 3_306, LOCK_PORT: 6_379, DATABASE_NAME: 'sharelock' })
  })

  test('names a database in word characters', () => {
    expect(['s', 'month_end_2026', 'd'.repeat(64)].filter((name) => !takes({ DATABASE_NAME: name }))).toEqual([])
    expect(['', 'a-b', 'a b', 'x`', '`x', 'd'.repeat(65)].filter((name) => takes({ DATABASE_NAME: name }))).toEqual([])
  })

  test('begins the keys of its locks with word characters, so that no pattern of an access string means more', () => {
    for (const prefix of ['', 'prod:', 'my-stage:'])
      expect(readEnv({ ...GOOD, LOCK_PREFIX: prefix }).LOCK_PREFIX).toBe(prefix)
    expect(['*', 'a b:', '{x}', 'x'.repeat(65)].filter((prefix) => takes({ LOCK_PREFIX: prefix }))).toEqual([])
  })

  test.each(Object.keys(GOOD))('lacks its %s when that is empty', (name) => {
    expect(() => readEnv({ ...GOOD, [name]: '' })).toThrow(name)
  })

  test('takes longer names than one letter everywhere', () => {
    const long = { STAGE: 'production', BUCKET: 'sharelock-files', DATABASE_USER: 'sharelock_app' }
    expect(readEnv({ ...GOOD, ...long })).toMatchObject(long)
  })

  test('chooses among the ways to prove who it is', () => {
    for (const auth of ['iam', 'password']) expect(takes({ DATABASE_AUTH: auth })).toBe(true)
    for (const auth of ['iam', 'none']) expect(takes({ LOCK_AUTH: auth })).toBe(true)
    expect(takes({ DATABASE_AUTH: 'none' })).toBe(false)
    expect(takes({ LOCK_AUTH: 'password' })).toBe(false)
    for (const tls of ['DATABASE_TLS', 'LOCK_TLS']) {
      expect(takes({ [tls]: 'verify' })).toBe(true)
      expect(takes({ [tls]: 'trust' })).toBe(false)
    }
  })
})

describe("the migrator's environment", () => {
  test('needs no more than where the database is, whom to create and which secret to read', () => {
    expect(readMigratorEnv(MIGRATOR)).toEqual({
      ...MIGRATOR,
      DATABASE_PORT: 3_306,
      DATABASE_NAME: 'sharelock',
      DATABASE_RESOURCE_ID: '',
      READER_USER: '',
      SMOKE_DISTRIBUTOR: '',
    })
  })

  test.each([
    ['DATABASE_HOST', ''],
    ['DATABASE_USER', ''],
    ['DATABASE_PORT', '0'],
    ['DATABASE_PORT', '65536'],
    ['DATABASE_NAME', 'a-b'],
    ['DATABASE_NAME', 'x; drop'],
    ['DATABASE_NAME', '`x'],
    ['DATABASE_NAME', 'd'.repeat(65)],
    ['MASTER_SECRET_ARN', 'master'],
  ])('with %s as %j is refused by that name', (name, value) => {
    expect(() => readMigratorEnv({ ...MIGRATOR, [name]: value })).toThrow(name)
  })

  test('takes every port and name a server may have', () => {
    for (const port of ['1', '65535'])
      expect(readMigratorEnv({ ...MIGRATOR, DATABASE_PORT: port }).DATABASE_PORT).toBe(Number(port))
    expect(readMigratorEnv({ ...MIGRATOR, DATABASE_NAME: 'd'.repeat(64) }).DATABASE_NAME).toHaveLength(64)
  })

  test('points at a secret with a user name and a password, whatever else it holds', () => {
    expect(MasterSecret.parse({ username: 'admin', password: 'secret', engine: 'mysql' })).toEqual({
      username: 'admin',
      password: 'secret',
    })
    for (const lacking of [{ username: 'admin' }, { username: '', password: 'x' }, { username: 'admin', password: '' }])
      expect(MasterSecret.safeParse(lacking).success).toBe(false)
  })
})
