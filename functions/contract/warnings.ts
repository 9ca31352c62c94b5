import { z } from 'zod'
import { count } from './numbers.ts'
import { WARNED_ROWS_RATIO } from './source-limits.ts'

/**
 * What is legal in a file and almost always a mistake. A start has to confirm each by its name, before anything is
 * locked; names are stable, since inputs of executions carry them. The sentence is the predicate of the file.
 * See decisions.md, "A warning is confirmed by its name".
 */
export const WARNINGS = {
  fractions:
    'has shares that look like fractions: most tracks sum to about 1 and not to 100; a quarter is written 25, so multiply every share by 100',
  'empty-ids':
    'has ids that stand for no value, such as nan, None or NULL: a data frame or a database wrote them for an empty cell',
  'number-ids':
    'has ids that a spreadsheet or a data frame turned into numbers, such as 14107338.0: their zeros are lost, and what is left may be another payee',
  'date-ids': 'has ids that look like dates: a spreadsheet may have turned them into one',
  'zero-ids': 'has ids of nothing but zeros, which name nobody',
  'same-as-month': 'has exactly the rows that are registered for another month: it may be the file of that month',
  'other-month': 'has a column that names another month than the one it is registered for',
  'row-count': 'has far more or far fewer rows than the month before',
} as const

export type WarningName = keyof typeof WARNINGS
export const WARNING_NAMES = Object.keys(WARNINGS) as [WarningName, ...WarningName[]]

/** Names that somebody confirmed. */
export const Confirmed = z.array(z.enum(WARNING_NAMES)).max(WARNING_NAMES.length)

/** One place where a warning was found; `part` is the file's name where a month comes in several. */
export type WarningExample = {
  readonly line: number | null
  readonly field: string | null
  readonly value: string
  readonly part?: string
}

/** `count` is of rows, for `fractions` of tracks and right types. The first examples by line come with it. */
export type Warning = {
  readonly name: WarningName
  readonly count: number
  readonly message: string
  readonly examples: readonly WarningExample[]
}

/** What the distributor's other months tell of a set: what no file knows by itself. */
export type Neighbours = {
  /** The jobs of other months that registered these very rows, the newest month first. */
  readonly same: readonly { readonly month: string; readonly job: number }[]
  /** The set that is registered for the newest month before this one. */
  readonly before: { readonly month: string; readonly job: number; readonly rows: number } | null
  /** Whether a job of this very slice had these rows: then it was let through before. */
  readonly wasOpened: boolean
}

/** A delivered file that the schedule did not start: nobody has confirmed its warnings, and no job came since. */
export type WarnedFile = {
  readonly distributor: string
  readonly month: string
  readonly key: string
  readonly etag: string
  readonly digest: string
  readonly execution: string
  readonly warnings: readonly Pick<Warning, 'name' | 'count'>[]
  readonly at: string
}

const namesMonth = ({ month, job }: { readonly month: string; readonly job: number }): string => `${month} (job ${job})`

/** Below this many rows in both months a ratio says nothing. */
const FEW_ROWS = 100

/** The warnings that only a look at the distributor's other months gives. */
export const neighbourWarnings = (rows: number, { same, before }: Neighbours): Warning[] => {
  const found: Warning[] = []
  if (same.length > 0)
    found.push({
      name: 'same-as-month',
      count: rows,
      message: `${WARNINGS['same-as-month']}: ${same.map(namesMonth).join(', ')}`,
      examples: [],
    })
  if (before === null || Math.max(rows, before.rows) < FEW_ROWS) return found
  if (rows * WARNED_ROWS_RATIO < before.rows || rows > before.rows * WARNED_ROWS_RATIO)
    found.push({
      name: 'row-count',
      count: rows,
      message: `${WARNINGS['row-count']}: ${count(rows)}, where ${namesMonth(before)} has ${count(before.rows)}`,
      examples: [],
    })
  return found
}

/** The warnings that nobody has confirmed. */
export const unconfirmed = (warnings: readonly Warning[], confirmed: readonly WarningName[]): Warning[] =>
  warnings.filter(({ name }) => !confirmed.includes(name))

/** `fractions (3), number-ids (12)`: the names as a sentence repeats them. */
export const warningNames = (warnings: readonly Pick<Warning, 'name' | 'count'>[]): string =>
  warnings.map((warning) => `${warning.name} (${count(warning.count)})`).join(', ')
