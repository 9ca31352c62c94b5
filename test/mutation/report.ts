import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LOCAL, ROOT } from '../../local/host/paths.ts'
import { SECTIONS } from './sections.ts'

/** The part of a mutation report (mutation-testing-elements) that is read here. */
type Report = { readonly files: Record<string, { readonly mutants: readonly { readonly status: string }[] }> }

type Score = {
  readonly name: string
  readonly killed: number
  /** Noticed because a test did not end: mostly loops without one. Counted as killed. */
  readonly timedOut: number
  readonly survived: number
  /** Reached by no test of the section: survived too. */
  readonly uncovered: number
}

/** Where Stryker keeps the results of a section, and finds them again for the next run. */
export const resultFile = (section: string): string => join(LOCAL, 'mutation', `${section}.json`)

const scoreOf = (name: string, statuses: readonly string[]): Score => {
  const count = (status: string): number => statuses.filter((each) => each === status).length
  return {
    name,
    killed: count('Killed'),
    timedOut: count('Timeout'),
    survived: count('Survived'),
    uncovered: count('NoCoverage'),
  }
}

const percent = ({ killed, timedOut, survived, uncovered }: Score): string => {
  const noticed = killed + timedOut
  const all = noticed + survived + uncovered
  return all === 0 ? '-' : ((100 * noticed) / all).toFixed(1)
}

/** Statuses of all mutants by file, of every section that was run, and the sections that were not. */
const readResults = async (): Promise<{ files: Map<string, string[]>; missing: string[] }> => {
  const files = new Map<string, string[]>()
  const missing: string[] = []
  for (const { name, mutate } of SECTIONS) {
    const text = await readFile(resultFile(name), 'utf8').catch(() => undefined)
    if (text === undefined) missing.push(name)
    const report: Report = text === undefined ? { files: {} } : JSON.parse(text)
    for (const [file, { mutants }] of Object.entries(report.files))
      if (mutate.includes(file))
        files.set(
          file,
          mutants.map(({ status }) => status),
        )
  }
  return { files, missing }
}

const folderOf = (file: string): string => file.slice(0, file.lastIndexOf('/'))

/** One line per folder, each followed by its files. */
const scores = (files: ReadonlyMap<string, readonly string[]>): Score[] => {
  const folders = [...new Set([...files.keys()].map(folderOf))].toSorted()
  return folders.flatMap((folder) => {
    const inside = [...files].filter(([file]) => folderOf(file) === folder).toSorted(([a], [b]) => a.localeCompare(b))
    const all = inside.flatMap(([, statuses]) => statuses)
    return [
      scoreOf(`**${folder}**`, all),
      ...inside.map(([file, statuses]) => scoreOf(file.slice(folder.length + 1), statuses)),
    ]
  })
}

const HEAD = ['file', 'killed', 'timed out', 'survived', 'not covered', 'score %']

const cellsOf = (score: Score): string[] => [
  score.name,
  ...[score.killed, score.timedOut, score.survived, score.uncovered].map(String),
  percent(score),
]

export const printScores = async (): Promise<void> => {
  const { files, missing } = await readResults()
  for (const score of scores(files)) console.log(cellsOf(score).join('\t'))
  if (missing.length > 0) console.log(`not run yet: ${missing.join(', ')}`)
}

const MARKERS = { begin: '<!-- results: begin -->', end: '<!-- results: end -->' }

/** Puts the scores between the markers of docs/mutation.md. */
export const writeScores = async (): Promise<void> => {
  const file = join(ROOT, 'docs/mutation.md')
  const [before, rest = ''] = (await readFile(file, 'utf8')).split(MARKERS.begin)
  const after = rest.split(MARKERS.end)[1]
  if (before === undefined || after === undefined) throw new Error(`${file} lacks its markers`)
  const { files, missing } = await readResults()
  const rows = [HEAD, HEAD.map(() => '---'), ...scores(files).map(cellsOf)]
  const table = rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
  const note = missing.length === 0 ? '' : `\n\nNot measured: the sections ${missing.join(', ')}.`
  await writeFile(file, `${before}${MARKERS.begin}\n\n${table}${note}\n\n${MARKERS.end}${after}`)
}
