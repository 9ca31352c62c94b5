import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lacksOf } from '../../../../functions/contract/database-needs.ts'
import { CHUNK_ROWS_MAX, PACKET_BYTES_MIN } from '../../../../functions/contract/limits.ts'
import { openJob } from '../../../../functions/job/open-job.ts'
import { acquisitionOf, guardShared } from '../../../../functions/store/job/guard.ts'
import type { DatabaseAddress } from '../../../../functions/store/mysql/connection.ts'
import { Database } from '../../../../functions/store/mysql/database.ts'
import { statement, transaction } from '../../../../functions/store/mysql/transaction.ts'
import { createAppUser } from '../../../../functions/store/schema/app-user.ts'
import { databaseCheck, requireReady } from '../../../../functions/store/schema/health.ts'
import { migrate } from '../../../../functions/store/schema/migrate.ts'
import { deleteRange } from '../../../../functions/store/share-ratio.ts'
import { RUNS } from '../../../../local/host/paths.ts'
import { findMysql } from '../../../../local/servers/find.ts'
import { MASTER, MysqlServer } from '../../../../local/servers/mysql.ts'
import { loadRows, planChunks } from '../../../support/rows.ts'
import { guarded, opening, testContext } from '../../../support/test-context.ts'
import { linesOf, newSlice } from '../../../support/test-database.ts'

/* A server that lacks what a run needs, and servers that refuse in mid-run: each is named before or after, never a mere Error. */
const folder = join(RUNS, `preflight-${process.pid}`)
const servers: MysqlServer[] = []
const opened: Database[] = []

const start = async (name: string, extra: string[]): Promise<DatabaseAddress> => {
  const found = await findMysql(process.env, () => undefined)
  if (!('program' in found)) throw new Error('this file needs a mysqld of its own')
  const server = await MysqlServer.start(found.program, join(folder, name), {
    bufferPool: '64M',
    redoLog: '64M',
    extra,
  })
  servers.push(server)
  return {
    DATABASE_HOST: server.host,
    DATABASE_PORT: server.port,
    DATABASE_NAME: 'preflight',
    DATABASE_USER: MASTER.user,
    DATABASE_PASSWORD: MASTER.password,
    DATABASE_AUTH: 'password',
    DATABASE_TLS: 'off',
    AWS_REGION: 'ap-northeast-2',
  }
}
const connect = (address: DatabaseAddress): Database => {
  const database = new Database(address)
  opened.push(database)
  return database
}

let master: DatabaseAddress
let app: DatabaseAddress
let outside: Database
beforeAll(async () => {
  master = await start('small', [])
  await migrate(master)
  await createAppUser(master, { name: 'app', auth: 'password', password: 'secret' })
  app = { ...master, DATABASE_USER: 'app', DATABASE_PASSWORD: 'secret' }
  outside = connect(master)
})
afterAll(async () => {
  await Promise.all(opened.map((database) => database.close()))
  await Promise.all(servers.map((server) => server.kill()))
  await rm(folder, { recursive: true, force: true })
})

test('a server with everything is ready, and one that lacks something is refused by its name', async () => {
  await requireReady(connect(app))
  for (const [setting, sentence] of [
    ['local_infile = 0', /local_infile is off/],
    [`max_allowed_packet = ${PACKET_BYTES_MIN - 1_024}`, /max_allowed_packet is \d+ bytes/],
  ] as const) {
    await outside.change(`set global ${setting}`)
    const refused = requireReady(connect(app))
    await expect(refused).rejects.toMatchObject({ name: 'DatabaseMisconfigured' })
    await expect(refused).rejects.toThrow(sentence)
    await outside.change(`set global ${setting.split(' ')[0]} = default`)
    await outside.change('set global local_infile = 1')
  }
})

test('each lack has a check of its own, and an older server or another log format is one', () => {
  const facts = { version: '8.0.36', localInfile: false, maxAllowedPacket: 1, isReadOnly: true, binlogFormat: 'MIXED' }
  expect(lacksOf(facts).map(({ check }) => check)).toEqual([
    'mysql-version',
    'local-infile',
    'max-allowed-packet',
    'binlog-format',
  ])
  const good = { version: '10.1.0', localInfile: true, maxAllowedPacket: PACKET_BYTES_MIN, isReadOnly: false }
  expect(lacksOf({ ...good, binlogFormat: '' })).toEqual([])
})

test('the smallest packet that is accepted takes a full chunk and a full piece of the ledger', async () => {
  await outside.change(`set global max_allowed_packet = ${PACKET_BYTES_MIN}`)
  const database = connect(app)
  const slice = await newSlice(connect(master))
  const job = await openJob(testContext(database), opening(slice, 'a/1', null))
  expect(await loadRows(database, slice, linesOf(0, CHUNK_ROWS_MAX / 4))).toEqual({
    rows: CHUNK_ROWS_MAX,
    warnings: 0,
  })
  const chunk = { rows: 4_000, bytes: 1, digest: 'a'.repeat(64), firstIsrc: 'KRA000000001', lastIsrc: 'KRA000000002' }
  const chunks = Array.from({ length: 1_000 }, (_, number) => ({ ...chunk, number: 4_000_000 + number }))
  await planChunks(database, job.id, chunks)
  await outside.change('set global max_allowed_packet = default')
})

test('triggers and foreign keys of others are seen, and one that refuses a delete ends it by its name', async () => {
  const slice = await newSlice(outside)
  await loadRows(outside, slice, linesOf(0, 1))
  expect((await databaseCheck(connect(app))).foreignRules).toEqual([])
  await outside.change(`create trigger counting after insert on share_ratio for each row set @seen = 1`)
  await outside.change(
    `create table paid (distributor_id int unsigned, settlement_month date, slot tinyint unsigned,
       isrc char(12) character set ascii collate ascii_bin, right_type varchar(20) character set ascii collate ascii_bin,
       party_id varchar(20) character set ascii collate ascii_bin,
       constraint theirs foreign key (distributor_id, settlement_month, slot, isrc, right_type, party_id)
         references share_ratio (distributor_id, settlement_month, slot, isrc, right_type, party_id))`,
  )
  await outside.change(
    `insert into paid select distributor_id, settlement_month, slot, isrc, right_type, party_id from share_ratio where isrc > ''`,
  )
  const { foreignRules } = await databaseCheck(connect(app))
  expect(foreignRules).toContainEqual({ kind: 'trigger', name: 'counting', detail: 'after insert' })
  expect(foreignRules).toContainEqual({
    kind: 'foreign key',
    name: 'theirs',
    detail: 'from preflight.paid to share_ratio',
  })
  const database = connect(app)
  const range = { number: 0, from_isrc: '', before_isrc: null, object_digest: null, row_count: 4 }
  const input = guarded(slice, await openJob(testContext(database), opening(slice, 'a/1', null)))
  const refused = transaction(database, async (tx) =>
    deleteRange(await guardShared(tx, acquisitionOf(input), 'DELETING'), range),
  )
  await expect(refused).rejects.toMatchObject({ name: 'ConstraintRefused', errno: 1451 })
  await outside.change('drop table paid')
  await outside.change('drop trigger counting')
})

test('a login that is refused is transient, whatever refuses it', async () => {
  const attempt = (address: DatabaseAddress) => {
    const database = connect(address)
    return expect(statement(database, () => database.rows('select 1'))).rejects
  }
  await attempt({ ...app, DATABASE_PASSWORD: 'expired' }).toMatchObject({ name: 'DatabaseLoginRefused' })
  await outside.change('alter user app account lock')
  await attempt(app).toMatchObject({ name: 'DatabaseLoginRefused', errno: 3118 })
  await outside.change('alter user app account unlock')
})

test('a table that has no room left is transient, for storage grows', async () => {
  const full = await start('full', [
    '--innodb-file-per-table=0',
    '--innodb-data-file-path=ibdata1:12M;ibdata2:12M',
    '--skip-log-bin',
  ])
  await migrate(full)
  const database = connect(full)
  const slice = await newSlice(database)
  const filling = transaction(database, async () => {
    for (let part = 0; part < 100; part += 1) await loadRows(database, slice, linesOf(part * 3_000, 3_000))
  })
  await expect(filling).rejects.toMatchObject({ name: 'DatabaseFull', errno: 1114 })
})

test.each([
  ['performance_schema is off', ['--performance-schema=OFF']],
  ['keeps 0 bytes of connect attributes', ['--performance-schema-session-connect-attrs-size=0']],
])('a server that does not tell sessions apart (%s) is refused', async (sentence, extra) => {
  const database = connect({ ...(await start(sentence.replaceAll(' ', '-'), extra)), DATABASE_NAME: 'mysql' })
  await expect(database.rows('select 1')).rejects.toThrow(sentence)
})
