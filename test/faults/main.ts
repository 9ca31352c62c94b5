import { combinations, FAULTS } from './matrix.ts'
import { MOMENTS } from './moments.ts'
import { readOptions, USAGE } from './options.ts'
import { runMatrix } from './run-matrix.ts'

/*
 * Breaks a real stack in every way we know, at every moment of a run, and checks from outside that nothing is lost, doubled
 * or half done. `npm run test:faults`; see options.ts. It exits with 0 where not one violation was found.
 */
const say = (line: string): void => console.log(line)

const main = async (args: readonly string[]): Promise<boolean> => {
  const options = readOptions(args)
  if (options === 'help') {
    say(USAGE)
    return true
  }
  if (options === 'list') {
    for (const { id, title } of FAULTS) say(`fault   ${id.padEnd(28)} ${title}`)
    for (const { id, title } of MOMENTS) say(`moment  ${id.padEnd(28)} ${title}`)
    return true
  }
  const cells = combinations({ fault: options.only, moment: options.moment })
  const run = await runMatrix(cells, options.worlds, say)
  return run.results.every(({ violations }) => violations.length === 0) && run.notRun.length === 0
}

// What we started ends with us: the watchdog sees to it, however we end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

process.exit((await main(process.argv.slice(2))) ? 0 : 1)
