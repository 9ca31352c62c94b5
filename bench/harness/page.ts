import { chartBlock } from './charts.ts'
import type { Result, Table } from './result.ts'

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')
const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`

const tableBlock = ({ title, head, rows }: Table): string => {
  for (const row of rows)
    if (row.length !== head.length) throw new Error(`A row of the table ${title} has ${row.length} cells`)
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
  return [`**${title}**`, '', line(head), line(rule), ...rows.map(line)].join('\n')
}

const verdictOf = (met: boolean): string => (met ? 'met' : '**missed**')

const verdictsBlock = (results: readonly Result[]): string =>
  [
    line(['target', 'measured', 'verdict']),
    line(['---', '---', '---']),
    ...results.flatMap(({ verdicts }) =>
      verdicts.map(({ target, measured, met }) => line([target, measured, verdictOf(met)])),
    ),
  ].join('\n')

const pairs = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ')

const sectionBlock = (result: Result): string =>
  [
    `## ${result.title}`,
    result.about,
    ...result.tables.map(tableBlock),
    ...result.charts.map(chartBlock),
    ...(result.notes.length === 0 ? [] : [result.notes.map((note) => `- ${note}`).join('\n')]),
    `<sub>\`npm run bench -- --only ${result.section}\`, ${result.ranAt.slice(0, 16).replace('T', ' ')} UTC, ${Math.round(result.seconds)} s. ${pairs(result.machine)}. ${pairs(result.settings)}.</sub>`,
  ].join('\n\n')

/** The whole page, from what the sections have found, in the order given. */
export const page = (results: readonly Result[]): string => {
  const verdicts = results.flatMap((result) => result.verdicts)
  const missed = verdicts.filter(({ met }) => !met).length
  return [
    '# Benchmarks',
    'Written by `npm run bench`; do not edit. Ratios come from one run on one server; the absolute numbers are this machine’s, and server, workers and clients share its cores.',
    `Of ${verdicts.length} targets ${verdicts.length - missed} are met and ${missed} missed.`,
    verdictsBlock(results),
    ...results.map(sectionBlock),
    '',
  ].join('\n\n')
}
