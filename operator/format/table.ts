import Table from 'cli-table3'
import { visible } from '../../functions/contract/visible.ts'

/** No lines around or between cells; two spaces between columns. */
const PLAIN = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-mid': '', 'bottom-left': '', 'bottom-right': '' },
  ...{ left: '', 'left-mid': '', mid: '', 'mid-mid': '', right: '', 'right-mid': '', middle: '  ' },
} as const

const STYLE = { 'padding-left': 0, 'padding-right': 0, border: [], head: [] }

/**
 * Columns side by side, each as wide as its widest cell; a Hangul syllable takes two columns of a terminal. A cell is one
 * line, whatever is in it.
 *
 * @param right columns that are aligned to the right, such as numbers
 */
export const table = (rows: readonly (readonly string[])[], right: readonly number[] = []): string[] => {
  if (rows.length === 0) return []
  const colAligns = (rows[0] ?? []).map((_, column) => (right.includes(column) ? 'right' : 'left'))
  const written = new Table({ chars: PLAIN, style: STYLE, colAligns })
  written.push(...rows.map((row) => row.map(visible)))
  return written
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
}

/** `name   value` lines under a heading. */
export const facts = (pairs: readonly (readonly [string, string])[]): string[] =>
  table(pairs.map(([name, value]) => [`  ${name}`, value]))
