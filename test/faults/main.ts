import { MOMENTS } from './matrix/moments.ts'
import type { Result } from './matrix/trial.ts'
import { combinations, FAULTS } from './matrix.ts'
import { type Options, readOptions, USAGE } from './options.ts'
import { pageOf, soakLines, writePage } from './report.ts'
import { runMatrix } from './run-matrix.ts'
import { replaySoak, runSoak, type SoakResult } from './soak/soak.ts'

/*
 * Breaks a real stack in every way we know, at every moment of a run, and checks from outside that nothing is lost, doubled
 * or half done. `npm run test:faults`; see options.ts. It exits with 0 where not one violation was found.
 */
const say = (line: string): void => console.log(line)

const list = (): void => {
  for (const { id, title } of FAULTS) say(`fault   ${id.padEnd(28)} ${title}`)
  for (const { id, title } of MOMENTS) say(`moment  ${id.padEnd(28)} ${title}`)
}

const soak = async ({ minutes, seed }: Options): Promise<SoakResult> => {
  say(`\nSoak: ${minutes} minutes, seed ${seed}`)
  const result = await runSoak(minutes, seed)
  for (const line of soakLines(result)) say(line)
  for (const violation of result.violations) say(`violation: ${violation}`)
  if (result.violations.length > 0) say(`again: ${replaySoak(result)}`)
  return result
}

const violationsIn = (results: readonly Result[]): number =>
  results.reduce((sum, { violations }) => sum + violations.length, 0)

/** The matrix, or the part of it that was asked for; a soak after the whole of it; the page. */
const matrix = async (options: Options, command: string): Promise<boolean> => {
  const { only, moment, beginning, every, tries, labs, minutes } = options
  const trials = combinations({ fault: only, moment, beginning }, tries).filter((_, index) => index % every === 0)
  const run = await runMatrix(trials, labs, say)
  say(
    `${run.results.length} trials in ${(run.ms / 60_000).toFixed(1)} minutes, ${violationsIn(run.results)} violations`,
  )
  if (run.notRun.length > 0) say(`${run.notRun.length} trials were not run: the time was up`)
  const isClean = violationsIn(run.results) === 0 && run.notRun.length === 0
  const isPart = [only, moment, beginning].some((choice) => choice !== undefined) || every > 1
  if (isPart) return isClean
  const soaked = minutes > 0 ? await soak(options) : undefined
  const conditions = { ...run.servers, command, minutes: run.ms / 60_000, notRun: run.notRun }
  await writePage(pageOf(run.results, soaked, conditions))
  return isClean && (soaked?.violations.length ?? 0) === 0
}

const main = async (args: readonly string[]): Promise<boolean> => {
  const options = readOptions(args)
  if (options === 'help') say(USAGE)
  else if (options === 'list') list()
  else if (options.soak) return (await soak(options)).violations.length === 0
  else return await matrix(options, ['npm run test:faults', ...(args.length > 0 ? ['--', ...args] : [])].join(' '))
  return true
}

// What we started ends with us: the watchdog sees to it, however we end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

try {
  process.exit((await main(process.argv.slice(2))) ? 0 : 1)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
