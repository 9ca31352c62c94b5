import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Stryker } from '@stryker-mutator/core'
import { LOCAL, RUNS } from '../../local/paths.ts'
import { findMysql, findValkey } from '../../local/servers/find.ts'
import { MysqlServer } from '../../local/servers/mysql.ts'
import { ValkeyServer } from '../../local/servers/valkey.ts'
import { printScores, type SectionResult, writeScores } from './report.ts'
import { SECTIONS, type Section, sectionOf } from './sections.ts'

/*
 * Mutation tests: changes the code of functions/ in one small way at a time and expects a test to fail.
 *
 *   node test/mutation/run.ts [--write] [section ...]
 *
 * All sections if none is named; --write puts the scores of all sections into docs/mutation.md. Every mutant that
 * survived stands in .local/mutation/<section>.json, the format of mutation-testing-elements' reports.
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

const mutate = async (section: Section): Promise<SectionResult> => {
  process.env.SHARELOCK_MUTATION = section.name
  const stryker = new Stryker({
    configFile: 'test/mutation/stryker.config.json',
    mutate: [...section.mutate],
    tempDirName: join(LOCAL, 'mutation', `sandbox-${section.name}`),
    incremental: true,
    incrementalFile: join(LOCAL, 'mutation', `${section.name}.json`),
  })
  const startedAt = performance.now()
  const mutants = await stryker.runMutationTest()
  return { section: section.name, seconds: (performance.now() - startedAt) / 1_000, mutants }
}

const main = async (args: readonly string[]): Promise<void> => {
  const names = args.filter((arg) => arg !== '--write')
  const sections = names.length === 0 ? SECTIONS : names.map(sectionOf)
  const results: SectionResult[] = []
  const all = async (): Promise<void> => {
    for (const section of sections) results.push(await mutate(section))
  }
  await (sections.some(({ servers }) => servers) ? withServers(all) : all())
  printScores(results)
  if (args.includes('--write') && names.length === 0) await writeScores(results)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
