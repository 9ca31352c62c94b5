import { rm } from 'node:fs/promises'
import { createServer, connect as dial, type Server } from 'node:net'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PACKET_BYTES_MIN } from '../../../functions/contract/limits.ts'
import type { DatabaseAddress } from '../../../functions/store/mysql/connection.ts'
import { Database } from '../../../functions/store/mysql/database.ts'
import { RUNS } from '../../../local/host/paths.ts'
import { findMysql, findValkey } from '../../../local/servers/find.ts'
import { MASTER, MysqlServer } from '../../../local/servers/mysql.ts'
import { ValkeyServer } from '../../../local/servers/valkey.ts'
import { linesOf } from '../../../preflight/lacks.ts'
import { lookAtMysql } from '../../../preflight/mysql.ts'
import { lookAtValkey } from '../../../preflight/valkey.ts'
import { lockAddress } from '../../support/lock-address.ts'

/* Real servers, each set up wrong in one way: one true sentence each, and none on a server that is right. */
const folder = join(RUNS, `preflight-servers-${process.pid}`)
const servers: (MysqlServer | ValkeyServer)[] = []
const proxies: Server[] = []
afterAll(async () => {
  for (const proxy of proxies) proxy.close()
  await Promise.all(servers.map((server) => server.kill()))
  await rm(folder, { recursive: true, force: true })
})

const startMysql = async (extra: string[] = []): Promise<DatabaseAddress> => {
  const found = await findMysql(process.env, () => undefined)
  if (!('program' in found)) throw new Error('this file needs a mysqld of its own')
  const options = { bufferPool: '64M', redoLog: '64M', extra }
  const server = await MysqlServer.start(found.program, join(folder, `mysql-${servers.length}`), options)
  servers.push(server)
  return {
    DATABASE_HOST: server.host,
    DATABASE_PORT: server.port,
    DATABASE_NAME: 'sharelock_guest',
    DATABASE_USER: MASTER.user,
    DATABASE_PASSWORD: MASTER.password,
    DATABASE_AUTH: 'password',
    DATABASE_TLS: 'off',
    AWS_REGION: 'ap-northeast-2',
  }
}

const startValkey = async (...extra: string[]): Promise<ValkeyServer> => {
  const found = await findValkey(process.env, () => undefined)
  if (!('program' in found)) throw new Error('this file needs a valkey-server of its own')
  const server = await ValkeyServer.start(found.program, join(folder, `valkey-${servers.length}`), { extra })
  servers.push(server)
  return server
}

/** In whole KiB, as the server takes it. */
const PACKET = PACKET_BYTES_MIN - 1_024

const LOCAL = { connections: 150, iam: false }

describe('MySQL', () => {
  let address: DatabaseAddress
  let outside: Database
  beforeAll(async () => {
    address = await startMysql()
    outside = new Database({ ...address, DATABASE_NAME: 'mysql' })
  })
  afterAll(() => outside.close())
  const lines = async (at = address, needs = LOCAL) => linesOf(await lookAtMysql(at, needs))

  test('with everything lacks nothing', async () => {
    expect(await lines()).toEqual([expect.stringMatching(/^ok {7}MySQL at 127\.0\.0\.1:\d+: \d+\.\d+/)])
  })

  test.each([
    ['local_infile = 0', 'local-infile: local_infile is off, so no chunk can be loaded.'],
    [`max_allowed_packet = ${PACKET}`, `max-allowed-packet: max_allowed_packet is ${PACKET} bytes, less than the`],
    ['read_only = 1', 'writable: The server is read-only: a replica, or an instance that is being restored.'],
    ['innodb_flush_log_at_trx_commit = 2', 'durable-commits: innodb_flush_log_at_trx_commit is 2: a crash may lose'],
    ['sync_binlog = 0', 'durable-binlog: sync_binlog is 0: after a crash replicas and restores may lack commits'],
    ['innodb_deadlock_detect = 0', 'deadlock-detection: innodb_deadlock_detect is off'],
    ["init_connect = 'set autocommit = 0'", 'init-connect: init_connect runs "set autocommit = 0" in each of our'],
    ['max_connections = 149', 'max-connections: max_connections is 149, and this stage alone may hold 150.'],
    ['max_user_connections = 149', "max-user-connections: max_user_connections is 149, and this stage's user may need"],
  ])('with %s is told by that alone', async (setting, sentence) => {
    const [name = ''] = setting.split(' ')
    const [before] = await outside.rows<{ value: string | number }>(`select @@global.${name} as value`)
    await outside.change(`set global ${setting}`)
    try {
      const [line = '', ...others] = await lines()
      expect(line.slice(0, 9 + sentence.length)).toBe(`lacks    ${sentence}`)
      // What is wrong, then what to do.
      expect(line.slice(9 + sentence.length)).toMatch(/(Set|Give|Empty) /)
      expect(others).toEqual([])
    } finally {
      await outside.change(`set global ${name} = ?`, [before?.value ?? null])
    }
  })

  test.each([
    ['--performance-schema=OFF', /^lacks {4}sessions: performance_schema is off, so sessions cannot be told apart/],
    [
      '--performance-schema-session-connect-attrs-size=0',
      /^lacks {4}sessions: MySQL keeps 0 bytes of connect attributes/,
    ],
    ['--innodb-rollback-on-timeout=ON', /^lacks {4}rollback-on-timeout: innodb_rollback_on_timeout is on/],
  ])('that was started with %s is told by that alone', async (option, sentence) => {
    const found = await lines(await startMysql([option]))
    expect(found).toEqual([expect.stringMatching(sentence)])
  })

  test('behind a proxy that greets with a number of its own is told by the proxy', async () => {
    const proxy = createServer((client) => {
      const upstream = dial(address.DATABASE_PORT, address.DATABASE_HOST)
      upstream.once('data', (packet) => {
        packet.writeUInt32LE(4_242, packet.indexOf(0, 5) + 1)
        client.write(packet)
        upstream.pipe(client)
        client.pipe(upstream)
      })
      for (const socket of [client, upstream]) socket.on('error', () => undefined)
    })
    proxies.push(proxy)
    await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready))
    const { port } = proxy.address() as { port: number }
    expect(await lines({ ...address, DATABASE_PORT: port })).toEqual([
      expect.stringMatching(/^lacks {4}sessions: The endpoint greets as connection 4242.*a proxy is in between/),
    ])
  })

  test('without the plugin and TLS of RDS takes no IAM password', async () => {
    expect(await lines(address, { ...LOCAL, iam: true })).toEqual([
      expect.stringMatching(/^lacks {4}iam: The server has no AWSAuthenticationPlugin.*modify-db-instance/),
      expect.stringMatching(/^lacks {4}tls: The connection is not encrypted/),
    ])
  })

  test('whose user may not do what the migrator does is told what is missing', async () => {
    await outside.change(`create user small identified by 'small'`)
    await outside.change('grant select on *.* to small with grant option')
    const [line = '', ...others] = await lines({ ...address, DATABASE_USER: 'small', DATABASE_PASSWORD: 'small' })
    expect(line).toMatch(/^lacks {4}master-user: .* may not CREATE, CREATE USER, .* with grant option/)
    expect(line).not.toContain('SELECT')
    expect(others).toEqual([])
  })

  test('that is not there is told with where to ask from', async () => {
    const [line] = await lines({ ...address, DATABASE_PORT: 1 })
    expect(line).toMatch(
      /^lacks {4}mysql-reached: MySQL at 127\.0\.0\.1:1 does not let us in: .*ECONNREFUSED.* inside the VPC/,
    )
  })
})

describe('Valkey', () => {
  const lines = async ({ host, port }: { host: string; port: number }, change = {}) =>
    linesOf(await lookAtValkey('guest', { ...lockAddress(host, port), LOCK_PREFIX: 'guest:', ...change }))

  test('with everything lacks nothing, and is left without a lock', async () => {
    const server = await startValkey()
    expect(await lines(server)).toEqual([
      expect.stringMatching(/^ok {7}Valkey at .* a lock was taken, extended and rel/),
    ])
    const client = new Redis({ host: server.host, port: server.port })
    expect(await client.dbsize()).toBe(0)
    client.disconnect()
  })

  test.each([
    [
      ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'],
      /^lacks {4}eviction: maxmemory-policy is allkeys-lru/,
    ],
    [['--cluster-enabled', 'yes'], /^lacks {4}cluster-mode: Cluster mode is enabled/],
    [['--replicaof', '127.0.0.1 1'], /^lacks {4}primary: The endpoint leads to a replica, which takes no lock/],
    [['--maxmemory', '1mb'], /^lacks {4}memory: \d+ % of its memory is taken/],
  ])('started with %s is told by that alone', async (extra, sentence) => {
    expect(await lines(await startValkey(...extra))).toEqual([expect.stringMatching(sentence)])
  })

  test('whose user may not do what a lock needs is told the access string', async () => {
    const server = await startValkey('--user', 'default', 'on', 'nopass', '~*', '+@all', '-eval')
    expect(await lines(server)).toEqual([
      expect.stringMatching(/^lacks {4}lock: Valkey refuses guest:.*NOPERM.*"on ~guest:\{sharelock:\* resetchannels/),
    ])
  })

  test('with a node that the stage does not list for its alarms is told the number', async () => {
    const { host, port } = await startValkey()
    await startValkey('--replicaof', `${host} ${port}`)
    const told = async () =>
      linesOf(await lookAtValkey('guest', lockAddress(host, port), { nodes: 1 })).map((line) => line.slice(0, 75))
    await expect
      .poll(told, { timeout: 30_000 })
      .toEqual(['lacks    nodes: The group has 2 nodes, and nodeIds of the stage lists 1: th'])
    expect(linesOf(await lookAtValkey('guest', lockAddress(host, port), { nodes: 2 }))).toEqual([
      expect.stringMatching(/^ok /),
    ])
  })

  test("whose user may not ask INFO, as the locks' own, is not called fine in what nobody saw", async () => {
    const server = await startValkey('--user', 'default', 'on', 'nopass', '~*', '+@all', '-info')
    expect(await lines(server)).toEqual([
      expect.stringMatching(/^ok /),
      expect.stringMatching(/^unknown {2}Valkey at .*: eviction policy, cluster mode and version, for INFO failed/),
    ])
  })
})
