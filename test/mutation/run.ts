import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { LOCAL, RUNS } from '../../local/host/paths.ts'
import { findMysql, findValkey } from '../../local/servers/find.ts'
import { MysqlServer } from '../../local/servers/mysql.ts'
import { ValkeyServer } from '../../local/servers/valkey.ts'
import { printScores, resultFile, writeScores } from './report.ts'
import type { Section } from './section.ts'
import { SECTIONS, sectionOf } from './sections.ts'

/*
 * Mutation tests: changes the code of functions/ in one small way at a time and expects a test to fail.
 *
 *   node test/mutation/run.ts [--write] [section ...]
 *
 * All sections if none is named. Results stay in .local/mutation/<section>.json, the format of mutation-testing-elements'
 * reports, with every mutant that survived; a later run repeats only what its changed code or tests may have changed.
 * --write puts the scores of all results into docs/mutation.md.
 */

/** Nothing here has to survive a power cut, and each mutant's tests migrate databases of their own. */
const FAST = { bufferPool: '256M', extra: ['--sync-binlog=0', '--innodb-flush-log-at-trx-commit=0'] }

/**
 * One MySQL and one Valkey for all mutants, found by the tests through the environment: a test process that a mutant
 * sends into an endless loop is killed, and would leave servers of its own behind.
 */
const withServers = async <T>(work: () => Promise<T>): Promise<T> => {
  const folder = join(RUNS, `mutation-${process.pid}`)
  const stops: (() => Promise<void>)[] = []
  try {
    const mysql = await findMysql(process.env, console.error)
    if ('program' in mysql) {
      const server = await MysqlServer.start(mysql.program, join(folder, 'mysql'), FAST)
      stops.push(() => server.stop())
      process.env.SHARELOCK_MYSQL = `${server.host}:${server.port}`
    }
    const valkey = await findValkey(process.env, console.error)
    if ('program' in valkey) {
      const server = await ValkeyServer.start(valkey.program, join(folder, 'valkey'))
      stops.push(() => server.stop())
      process.env.SHARELOCK_VALKEY = `${server.host}:${server.port}`
    }
    return await work()
  } finally {
    await Promise.all(stops.map((stop) => stop()))
    await rm(folder, { recursive: true, force: true })
  }
}

const mutate = async ({ name, mutate }: Section): Promise<void> => {
  process.env.SHARELOCK_MUTATION = name
  const stryker = new Stryker({
    configFile: 'test/mutation/stryker.config.json',
    mutate: [...mutate],
    tempDirName: join(LOCAL, 'mutation', `sandbox-${name}`),
    incremental: true,
    incrementalFile: resultFile(name),
  })
  await stryker.runMutationTest()
}

const main = async (args: readonly string[]): Promise<void> => {
  const names = args.filter((arg) => arg !== '--write')
  const sections = names.length === 0 ? SECTIONS : names.map(sectionOf)
  const all = async (): Promise<void> => {
    for (const section of sections) await mutate(section)
  }
  await (sections.some(({ servers }) => servers) ? withServers(all) : all())
  await printScores()
  if (args.includes('--write')) await writeScores()
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
