import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildOnce } from '../../../local/host/build-once.ts'
import { readAptSources } from '../../../local/servers/apt-sources.ts'
import { addressFrom, findMysql, findValkey, mysqlObstacle } from '../../../local/servers/find.ts'
import { MASTER, MysqlServer } from '../../../local/servers/mysql.ts'
import { ValkeyServer } from '../../../local/servers/valkey.ts'
import { isRunning } from './app.ts'

const newFolder = () => mkdtempSync(join(tmpdir(), 'sharelock-servers-'))

const etcApt = (files: Record<string, string>): string => {
  const root = newFolder()
  mkdirSync(join(root, 'sources.list.d'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  return root
}

describe('the Debian archive is taken from the apt sources of the machine', () => {
  test('in stanzas, the security archive and switched off ones left aside', async () => {
    const root = etcApt({
      'sources.list.d/debian.sources': `# a comment
Types: deb
URIs: https://mirror.example/debian-security
Suites: stable-security

Enabled: no
Types: deb
URIs: https://off.example/debian

Types: deb deb-src
# another comment
URIs: https://mirror.example/debian
Suites: stable stable-updates
Components: main
Signed-By: /usr/share/keyrings/some.gpg
`,
    })
    expect(await readAptSources(root)).toEqual({
      uri: 'https://mirror.example/debian',
      signedBy: '/usr/share/keyrings/some.gpg',
    })
  })

  test('in lines', async () => {
    const root = etcApt({
      'sources.list': `# deb http://commented.example/debian stable main
deb-src http://source.example/debian stable main
deb [arch=amd64 signed-by=/etc/keys/a.gpg] http://mirror.example/debian/ stable main`,
    })
    expect(await readAptSources(root)).toEqual({ uri: 'http://mirror.example/debian/', signedBy: '/etc/keys/a.gpg' })
  })

  test('and there may be none', async () => {
    expect(await readAptSources(etcApt({ 'sources.list': 'deb http://a.example/ubuntu noble main' }))).toBeUndefined()
    expect(await readAptSources('/nowhere')).toBeUndefined()
  })
})

test.each([
  ['mysqld  Ver 8.4.9 for Linux on x86_64 (MySQL Community Server - GPL)', undefined],
  ['/usr/sbin/mysqld  Ver 9.7.4-2 for Linux on x86_64 ((Debian))', undefined],
  ['mysqld  Ver 8.0.36 for Linux on x86_64', 'it is MySQL 8.0, older than 8.4'],
  ['mysqld  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu', 'it is not MySQL'],
  ['', 'it is not MySQL'],
])('%s will do or will not', (version, obstacle) => {
  expect(mysqlObstacle(version)).toBe(obstacle)
})

test('addresses in the environment come first, and a wrong one is named', async () => {
  const say = () => undefined
  expect(await findMysql({ SHARELOCK_MYSQL: '127.0.0.1:3306' }, say)).toEqual({
    address: { host: '127.0.0.1', port: 3306 },
  })
  expect(addressFrom({ A: '[::1]:6379' }, 'A')).toEqual({ host: '::1', port: 6379 })
  expect(() => addressFrom({ A: 'localhost' }, 'A')).toThrow('A must be host:port')
})

describe('what is built once', () => {
  test('is built by one of those who want it at the same time', async () => {
    const folder = join(newFolder(), 'built')
    let builds = 0
    const build = async (temporary: string): Promise<void> => {
      builds += 1
      await new Promise((resolve) => setTimeout(resolve, 50))
      await writeFile(join(temporary, 'file'), 'whole')
    }
    await Promise.all([buildOnce(folder, build), buildOnce(folder, build), buildOnce(folder, build)])
    expect(builds).toBe(1)
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('whole')
  })

  test('is built again after a failure, and after a builder that died', async () => {
    const folder = join(newFolder(), 'built')
    await expect(buildOnce(folder, () => Promise.reject(new Error('no network')))).rejects.toThrow('no network')
    // The lock of a process that cannot exist.
    writeFileSync(`${folder}.lock`, '999999999')
    await buildOnce(folder, (temporary) => writeFile(join(temporary, 'file'), 'whole'))
    expect(await readFile(join(folder, 'file'), 'utf8')).toBe('whole')
  })
})

const program = async (find: typeof findMysql) => {
  const found = await find({ PATH: process.env.PATH }, () => undefined)
  if ('address' in found) throw new Error('These tests start servers of their own')
  return found.program
}

describe('MySQL', () => {
  let server: MysqlServer
  beforeAll(async () => {
    server = await MysqlServer.start(await program(findMysql), newFolder(), { bufferPool: '64M', redoLog: '16M' })
  })
  afterAll(() => server.kill())

  const query = async (sql: string): Promise<RowDataPacket[]> => {
    const connection = await createConnection({ host: server.host, port: server.port, ...MASTER })
    const [rows] = await connection.query<RowDataPacket[]>(sql)
    await connection.end()
    return rows
  }

  test('runs as durable and as isolated as in production', async () => {
    const [row] = await query(`select @@sync_binlog, @@innodb_flush_log_at_trx_commit, @@local_infile,
      @@transaction_isolation, @@log_bin, @@performance_schema, @@bind_address, @@innodb_lock_wait_timeout`)
    expect(Object.values(row ?? {})).toEqual([1, 1, 1, 'READ-COMMITTED', 1, 1, '127.0.0.1', 10])
  })

  test('keeps what was committed through kill -9 and comes back at its address', async () => {
    await query('create database kept')
    await query('create table kept.row_of (id int primary key)')
    await query('insert into kept.row_of values (1)')
    const { port, pid } = server
    await server.kill()
    expect(server.pid).toBeUndefined()
    expect(isRunning(pid ?? 0)).toBe(false)
    await server.restart()
    expect(server.port).toBe(port)
    expect(await query('select id from kept.row_of')).toEqual([{ id: 1 }])
  })
})

test('Valkey refuses to evict, and forgets everything when it restarts', async () => {
  const server = await ValkeyServer.start(await program(findValkey), newFolder())
  const client = new Redis({ port: server.port, retryStrategy: () => 50 })
  client.on('error', () => undefined)
  expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction'])
  await client.set('key', 'value')
  await server.kill()
  await server.restart()
  expect(await client.get('key')).toBeNull()
  client.disconnect()
  await server.stop()
  expect(server.pid).toBeUndefined()
})
