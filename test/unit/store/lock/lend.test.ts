import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { IdlePool } from '../../../../functions/store/invocation/idle-pool.ts'
import { Invocation } from '../../../../functions/store/invocation/invocation.ts'
import { type LockAddress, openLockClient } from '../../../../functions/store/lock/client.ts'
import { lendLock, type OpenLockClient } from '../../../../functions/store/lock/lend.ts'

const sockets: Socket[] = []
// It accepts and stays silent.
const server = createServer((socket) => sockets.push(socket))
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
  server.close()
})

test('a client whose command is under way when the time is up is not idle for the next invocation', async () => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const address: LockAddress = {
    ...{ LOCK_HOST: '127.0.0.1', LOCK_PORT: (server.address() as AddressInfo).port, LOCK_USER: '' },
    ...({ LOCK_AUTH: 'none', LOCK_TLS: 'off', LOCK_PREFIX: '' } as const),
    ...{ LOCK_GROUP_ID: '', AWS_REGION: 'ap-northeast-2' },
  }
  const dropped: OpenLockClient[] = []
  const idle = new IdlePool<OpenLockClient>((client) => dropped.push(client))
  const opened = openLockClient(address)
  const invocation = new Invocation(300)
  const client = await lendLock(() => opened, idle, invocation)()
  await expect(client.eval('return 1', 1, 'key')).rejects.toMatchObject({ name: 'OutOfTime' })
  invocation.end()
  await expect.poll(async () => (await opened).status, { timeout: 5_000 }).toBe('end')
  expect(idle.take()).toBeUndefined()
  expect(dropped).toEqual([])
})
