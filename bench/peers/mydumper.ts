import { mkdir } from 'node:fs/promises'
import type { Database } from '../../functions/store/mysql/database.ts'
import { LANES } from '../harness/floor.ts'
import type { Method, Target } from './method.ts'
import type { Tools } from './tools.ts'

/** Where the rows are that mydumper dumps: it takes whole tables. */
const SOURCE = 'bench_dump'

/** MiB of a dump file; the loader's threads take a file each. */
const FILE_MIB = 4

/** One statement copies the whole slice. */
const COPY_TIMEOUT_MS = 300_000

/** Writes the rows of one slice as a dump, through a table that holds nothing else. */
export const dumpSlice = async (tools: Tools, database: Database, target: Target, folder: string): Promise<void> => {
  const { host, port, user, distributorId, month } = target
  await database.change(`create database if not exists ${SOURCE}`)
  await database.change(`drop table if exists ${SOURCE}.share_ratio`)
  await database.change(`create table ${SOURCE}.share_ratio like share_ratio`)
  await database.change(
    `insert into ${SOURCE}.share_ratio select * from share_ratio where distributor_id = ? and settlement_month = ?
       and slot = 0 and isrc > '' and isrc < '['`,
    [distributorId, month],
    { timeoutMs: COPY_TIMEOUT_MS },
  )
  await mkdir(folder, { recursive: true })
  const from = ['-h', host, '-P', String(port), '-u', user, '-B', SOURCE, '-T', 'share_ratio']
  const dumping = tools.start('mydumper', [...from, '-o', folder, '-F', String(FILE_MIB), '--no-schemas'])
  const { code, said } = await dumping.ended
  await database.change(`drop database ${SOURCE}`)
  if (code !== 0) throw new Error(`mydumper ended with ${code}: ${said}`)
}

/** Its loader; with the binary log, which it would switch off by default. It deletes whole tables only. */
export const myloader = (tools: Tools): Method => ({
  name: `myloader, ${LANES} threads`,
  step: 'register',
  pace: 'fast',
  atomic: false,
  start: ({ host, port, user, database, files }) =>
    tools.start('myloader', [
      ...['-h', host, '-P', String(port), '-u', user, '-B', database, '-d', files.dump ?? ''],
      ...['--enable-binlog', '-t', String(LANES)],
    ]),
})
