import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { lockKey, type Slice } from '../../../../functions/contract/words.ts'
import { tryAcquire } from '../../../../functions/store/lock/acquire.ts'
import { openLockClient } from '../../../../functions/store/lock/client.ts'
import { extend } from '../../../../functions/store/lock/extend.ts'
import { inspect } from '../../../../functions/store/lock/inspect.ts'
import { release } from '../../../../functions/store/lock/release.ts'
import { accessString } from '../../../../infra/config/lock-access.ts'
import { lockPrefix } from '../../../../infra/config/stores.ts'
import { lockAddress } from '../../../support/lock-address.ts'

const valkey = inject('valkey')
const clients: Redis[] = []
const open = async (LOCK_PREFIX = '') => {
  const client = await openLockClient({ ...lockAddress(valkey.host, valkey.port), LOCK_PREFIX })
  clients.push(client)
  return client
}
afterAll(() => {
  for (const client of clients) client.disconnect()
})

const newSlice = (): Slice => ({ distributorId: 1, distributor: randomUUID().slice(0, 8), month: '2026-10' })

describe('the access string of the deployed user group', () => {
  test('lets the lock do all of its work, on the keys of locks only', async () => {
    const admin = await open()
    await admin.call('acl', 'setuser', 'sharelock', 'reset', ...accessString('prod').split(' '), '>secret')
    const login = { username: 'sharelock', password: 'secret', keyPrefix: lockPrefix('prod') }
    const client = new Redis({ ...valkey, ...login, enableReadyCheck: false })
    clients.push(client)
    const slice = newSlice()
    expect(await tryAcquire(client, slice, 'a/1')).toBeNull()
    await extend(client, slice, 'a/1')
    expect((await inspect(client, slice))?.holder).toBe('a')
    expect(await release(client, slice, 'a/1')).toBe(true)
    await expect(client.set('other', 'x')).rejects.toThrow(/NOPERM/)
    await expect(client.keys('*')).rejects.toThrow(/NOPERM/)
    await expect(client.flushall()).rejects.toThrow(/NOPERM/)
    client.disconnect()
    await admin.call('acl', 'deluser', 'sharelock')
  })
})

describe('two stages on one Valkey', () => {
  test('lock the same slice each for itself, and neither may touch the locks of the other', async () => {
    const admin = await open()
    const as = (stage: string) => open(lockPrefix(stage))
    const [prod, test] = [await as('prod'), await as('test')]
    const slice = newSlice()
    expect(await tryAcquire(prod, slice, 'a/1')).toBeNull()
    expect(await tryAcquire(test, slice, 'b/1')).toBeNull()
    expect(await release(test, slice, 'a/1')).toBe(false)
    expect([await inspect(prod, slice), await inspect(test, slice)].map((lock) => lock?.holder)).toEqual(['a', 'b'])
    expect(await admin.get(`prod:${lockKey(slice)}`)).toBe('a/1')
    await admin.call('acl', 'setuser', 'test', 'reset', ...accessString('test').split(' '), 'nopass')
    const foreign = await as('prod')
    await foreign.call('auth', 'test', 'any')
    // The key by the name that it has in Valkey.
    await expect(tryAcquire(foreign, slice, 'c/1')).rejects.toThrow(`prod:${lockKey(slice)}`)
    await admin.call('acl', 'deluser', 'test')
  })
})
