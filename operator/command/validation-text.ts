import type { HeldRows } from '../../functions/contract/manifest.ts'
import { count, counted } from '../../functions/contract/numbers.ts'
import { lineAndColumn, type Rejection, type SourceError } from '../../functions/contract/source-refusals.ts'
import { quoted } from '../../functions/contract/visible.ts'
import type { Warning } from '../../functions/contract/warnings.ts'
import { facts } from '../format/table.ts'
import type { Validation } from '../operations/start-plan.ts'
import type { Output } from './output.ts'

/** Errors that people are shown unless they ask for more; `--json` has all that were kept. */
export const ERRORS_SHOWN = 20

const errorText = (error: SourceError): string => {
  const where = lineAndColumn(error)
  // Most sentences repeat the value already.
  const found = quoted(error.value)
  const value = error.value === '' || error.message.includes(found.slice(1, -1)) ? '' : ` Found: ${found}.`
  return `  ${where === '' ? '' : `${where}: `}${error.message}.${value} [${error.rule}]`
}

export const rejectionLines = ({ total, errors, stoppedAtLine }: Rejection, shown = ERRORS_SHOWN): string[] => {
  const lines = errors.slice(0, shown).map(errorText)
  const more = total - lines.length
  if (more > 0) lines.push(`  ... and ${counted(more, 'error')} more`)
  if (stoppedAtLine !== null) lines.push(`  ... and more; reading stopped at line ${count(stoppedAtLine)}`)
  return lines
}

/** Each warning with its sentence and its first places. */
export const warningLines = (out: Output, warnings: readonly Warning[]): string[] =>
  warnings.flatMap(({ name, count: found, message, examples }) => [
    `${out.style('yellow', `warning ${name}`)} (${count(found)}): the file ${message}.`,
    ...examples.map(
      ({ line, field, value, part }) =>
        `  ${part === undefined ? '' : `${part}, `}line ${line}${field === null ? '' : `, ${field}`}: ${quoted(value)}`,
    ),
  ])

/** What is left out of an accepted file. */
export const heldText = ({ rows, tracks, shareSum, firstTracks }: HeldRows): string =>
  `${counted(rows, 'row')} of ${counted(tracks, 'track')} above 100, sum ${shareSum}: ${firstTracks.join(', ')}${tracks > firstTracks.length ? ', ...' : ''}`

/** Columns of a refused file that nobody asked for: perhaps a misspelt name is among them. */
export const ignoredLines = ({ ignoredColumns }: Validation): string[] =>
  ignoredColumns.length === 0 ? [] : [`  ignored columns: ${ignoredColumns.join(', ')}`]

export const formatText = ({ encoding, gzip }: Validation): string => (gzip ? `${encoding}, packed` : encoding)

/** What was read, as pairs of name and value. */
export const summaryLines = (validation: Validation): string[] => {
  const { summary, ignoredColumns } = validation
  if (summary === null) return []
  return facts([
    ['rows', count(summary.rows)],
    ['tracks', count(summary.tracks)],
    ['parties', count(summary.parties)],
    ['sum of shares', summary.shareSum],
    ['encoding', formatText(validation)],
    ...(ignoredColumns.length === 0 ? [] : ([['ignored columns', ignoredColumns.join(', ')]] as const)),
    ...(summary.held === undefined ? [] : ([['held', heldText(summary.held)]] as const)),
    ['chunks', count(summary.chunks)],
    ['staged source', summary.digest],
  ])
}
