import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from '../../local/host/paths.ts'
import { PLACES } from './cases.ts'
import type { Outcome } from './checker.ts'
import type { Mutant } from './mutants.ts'

export type Row = {
  readonly name: string
  readonly outcome: Outcome
  /** Present on a mutant. */
  readonly mutant?: Mutant
}

/** What is wrong with a row, in a sentence; undefined where it is as it should be. */
export const faultOf = ({ outcome, mutant }: Row): string | undefined => {
  const { violated } = outcome
  if (mutant !== undefined)
    return violated === mutant.breaks
      ? undefined
      : `it should break ${mutant.breaks} and ${violated === undefined ? 'breaks nothing' : `breaks ${violated}`}`
  if (violated !== undefined) return `it breaks ${violated}`
  if (!outcome.complete) return 'the search is not complete'
  if (outcome.unreached.length > 0) return `statements are never reached: ${outcome.unreached.join('; ')}`
  return undefined
}

const verdictOf = (row: Row): string => {
  const fault = faultOf(row)
  if (fault !== undefined) return `WRONG: ${fault}`
  return row.mutant === undefined ? 'holds' : `breaks ${row.mutant.breaks}`
}

const HEAD = ['case', 'states', 'depth', 'seconds', 'MB', 'verdict']

const cellsOf = (row: Row): string[] => [
  row.mutant === undefined ? row.name : `mutant: ${row.name}`,
  row.outcome.states.toLocaleString('en-US'),
  String(row.outcome.depth),
  row.outcome.seconds.toFixed(1),
  String(Math.round(row.outcome.memoryMb)),
  verdictOf(row),
]

const NAME_CHARS = 56

/** One line of the table, printed as soon as its check has ended. */
export const lineOf = (row: Row | undefined): string => {
  const [name = '', ...rest] = row === undefined ? HEAD : cellsOf(row)
  const widths = [12, 6, 8, 6]
  const numbers = rest.slice(0, 4).map((cell, index) => cell.padStart(widths[index] ?? 0))
  return `${name.padEnd(NAME_CHARS)}${numbers.join(' ')}  ${rest[4] ?? ''}`
}

/** Places no base case came to: then the model holds because too little happens in it. */
export const placesMissed = (rows: readonly Row[]): string[] => {
  const reached = new Set(rows.filter((row) => row.mutant === undefined).flatMap((row) => row.outcome.reached))
  return Object.entries(PLACES)
    .filter(([number]) => !reached.has(number))
    .map(([, place]) => place)
}

const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

const trailSection = ({ mutant, outcome }: Row): string =>
  mutant === undefined
    ? ''
    : `**${mutant.name}**: ${mutant.mistake}. Breaks ${mutant.breaks}:\n\n\`\`\`\n${outcome.trail.join('\n')}\n\`\`\``

const MARKERS = { begin: '<!-- results: begin -->', end: '<!-- results: end -->' }

/** Puts the results between the markers of docs/model.md. */
export const writeResults = async (rows: readonly Row[]): Promise<string> => {
  const file = join(ROOT, 'docs/model.md')
  const text = await readFile(file, 'utf8')
  const [before, rest = ''] = text.split(MARKERS.begin)
  const after = rest.split(MARKERS.end)[1]
  if (before === undefined || after === undefined) throw new Error(`${file} lacks its markers`)
  const states = rows.reduce((sum, row) => sum + (row.mutant === undefined ? row.outcome.states : 0), 0)
  const results = [
    `${states.toLocaleString('en-US')} states in all, without the mutants'.`,
    markdownTable(
      HEAD,
      rows.map((row) => cellsOf(row)),
    ),
    'Reached on the way, in the cases that hold:',
    Object.values(PLACES)
      .map((place) => `- ${place}`)
      .join('\n'),
    '### How each mutant fails',
    "The shortest way there is. A step that says nothing (a lost lock, a failing task) is left out; the last line is the one that breaks the invariant. `d1` and `r2` are the first delete chunk and the second register chunk; workers 0 and 1 are A's lanes, 2 is B's.",
    ...rows.map(trailSection).filter((section) => section !== ''),
  ]
  await writeFile(file, `${before}${MARKERS.begin}\n\n${results.join('\n\n')}\n${MARKERS.end}${after}`)
  return file
}
