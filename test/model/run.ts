import { availableParallelism } from 'node:os'
import pMap from 'p-map'
import { BASES, type Case, THOROUGH } from './cases.ts'
import { check } from './checker.ts'
import { MUTANTS, type Mutant } from './mutants.ts'
import { faultOf, lineOf, placesMissed, type Row, writeResults } from './report.ts'
import { findTools, type Tools } from './tools.ts'

/*
 * Checks the model of Sharelock's protocol: the cases must hold in every state there is, each mutant must fail.
 *
 *   node test/model/run.ts [--thorough] [--write] [--trails]
 *
 * --thorough adds larger combinations (minutes), --write puts the results into docs/model.md, --trails prints the whole way
 * of every mutant instead of its last steps. It exits with 0 where everything is as it should be.
 */

/** Two checkers at a time: each may take 2 GB. */
const LANES_MAX = 2
const TRAIL_LINES = 4

const say = (line: string): void => console.log(line)

type Work = { readonly subject: Case; readonly mutant?: Mutant }

const rowOf = async (tools: Tools, { subject, mutant }: Work): Promise<Row> => {
  const outcome = await check(tools, subject, mutant === undefined ? 'all' : 'shortest')
  return { name: subject.name, outcome, ...(mutant === undefined ? {} : { mutant }) }
}

const printRow = (row: Row, wholeTrails: boolean): void => {
  say(lineOf(row))
  const { trail } = row.outcome
  const shown = wholeTrails || row.mutant === undefined ? trail : trail.slice(-TRAIL_LINES)
  if (shown.length < trail.length) say('      ...')
  for (const line of shown) say(`      ${line}`)
}

/** Works off the checks side by side and prints them in their order. */
const checkAll = async (tools: Tools, works: readonly Work[], wholeTrails: boolean): Promise<Row[]> => {
  const rows: Row[] = []
  let printed = 0
  const checkOne = async (work: Work, index: number): Promise<void> => {
    rows[index] = await rowOf(tools, work)
    for (let row = rows[printed]; row !== undefined; row = rows[printed]) {
      printRow(row, wholeTrails)
      printed += 1
    }
  }
  await pMap(works, checkOne, { concurrency: Math.min(LANES_MAX, availableParallelism()) })
  return rows
}

const OPTIONS = ['--thorough', '--write', '--trails']

const main = async (args: readonly string[]): Promise<boolean> => {
  const unknown = args.find((arg) => !OPTIONS.includes(arg))
  if (unknown !== undefined) throw new Error(`${unknown} is not an option; there are ${OPTIONS.join(', ')}`)
  const tools = await findTools(say)
  const bases = args.includes('--thorough') ? [...BASES, ...THOROUGH] : BASES
  const works: Work[] = [
    ...bases.map((subject) => ({ subject })),
    ...MUTANTS.map((mutant) => ({ subject: mutant, mutant })),
  ]
  const startedAt = performance.now()
  say(lineOf(undefined))
  const rows = await checkAll(tools, works, args.includes('--trails'))

  const missed = placesMissed(rows)
  for (const place of missed) say(`WRONG: never reached: ${place}`)
  const wrong = rows.filter((row) => faultOf(row) !== undefined).length + missed.length
  const states = rows.reduce((sum, row) => sum + (row.mutant === undefined ? row.outcome.states : 0), 0)
  say(
    `${bases.length} cases, ${states.toLocaleString('en-US')} states; ${MUTANTS.length} mutants; ${wrong} wrong; ${Math.round((performance.now() - startedAt) / 1_000)} s`,
  )
  if (args.includes('--write') && wrong === 0) say(`Written: ${await writeResults(rows)}`)
  return wrong === 0
}

try {
  process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
