import { CONTAINER_RULES } from './container-refusals.ts'
import { ROW_COLUMNS } from './row-format.ts'
import { SHEET_RULES } from './sheet-refusals.ts'
import { quoted } from './visible.ts'
import { WARNINGS } from './warnings.ts'
import type { OverClaim, PartyScheme, SumRule } from './words.ts'

/** The columns a file must have; their names are case-insensitive and may be in any order. */
export const SOURCE_COLUMNS = ROW_COLUMNS
export type SourceColumn = (typeof SOURCE_COLUMNS)[number]

/** The part of the rules that is a distributor's own. */
export type SourceRules = {
  readonly sumRule: SumRule
  readonly partyScheme: PartyScheme
  /** Without it, an over-claim refuses the file. */
  readonly overClaim?: OverClaim | undefined
}

/**
 * Why a file is refused. The name is stable: reports, tests and operators' searches depend on it. The sentence is the
 * predicate of the refused value (`share "33.3%" has a percent sign; ...`) or of the file, and says what is expected.
 */
export const SOURCE_RULES = {
  // --- the file as a whole
  'empty-file': 'has no row of shares',
  'file-bytes': 'is larger than one upload may be',
  'file-rows': 'has more rows than one slice may have',
  'blank-lines': 'has far more blank lines than rows; delete the blank lines',
  ...CONTAINER_RULES,
  ...SHEET_RULES,
  'gzip-truncated': 'is a gzip file that ends too early; upload it again',
  'gzip-damaged': 'is a damaged gzip file; upload it again',
  'gzip-expansion': 'unpacks to more than files of shares do; pack the CSV file itself, once, or upload it unpacked',
  encoding: 'cannot be decoded exactly; save the file as UTF-8',
  'encoding-mark': 'is not in the encoding that these files have; save it in that one',
  delimiter:
    'has another separator than these files have; export it with that one, or ask for the profile to name this one',
  'header-missing': 'is missing from the header',
  'header-duplicate': 'appears more than once in the header',
  'header-unknown': 'is none that these files have; delete it, or ask for it to be ignored',
  'header-constant':
    'is there, though every row of these files has the same right type; delete it, or ask for it to be read',
  'rows-after-data': 'is a row of shares where these files end with rows that are none',
  'distinct-values': 'has more different values than one file may have; see whether the right column has this name',
  // --- one record
  'record-length': 'is too long for one row; a quote that was opened here may never be closed',
  'unclosed-quote': 'opens a quote that is never closed',
  'stray-quote': 'has a quote in the wrong place; quote the whole value and double the quotes inside it',
  'column-count': 'has another number of columns than the header; a value with a comma must be quoted',
  'blank-row': 'has separators but no value; delete the row',
  // --- any value
  'excel-formula': 'is a formula of Excel around the value; export the column as text, without = and quotes around it',
  'hidden-character': 'has a character that cannot be seen; delete it where the value comes from',
  // --- isrc
  'isrc-blank': 'is blank; every row names its track',
  'isrc-format': 'is not an ISRC: 2 letters, 3 letters or digits, 7 digits, e.g. KRA012600001',
  // --- right_type
  'right-type-blank': 'is blank',
  'right-type-format': 'is not a right type: 1-20 of letters, digits, _ and -',
  // --- party_id
  'party-blank': 'is blank; every share belongs to a party',
  'party-format': 'is not a party id: 1-20 of letters, digits, ., _ and -',
  'ipi-format': 'is not an IPI name number: 11 digits and nothing else, e.g. 00014107338',
  'ipi-length': 'has not the 11 digits of an IPI name number; leading zeros may have been lost in a spreadsheet',
  'ipi-check-digits': 'is not an IPI name number: its last two digits do not fit the others',
  'excel-number': 'was turned into a number by a spreadsheet and its digits are lost; export the column as text',
  // --- share
  'share-blank': 'is blank, and a blank is never 0',
  'share-full-width': 'is written in full-width characters; write it in ASCII, e.g. 33.3',
  'share-thousands-separator': 'has a thousands separator; a share is a percentage of at most 100',
  'share-decimal-comma': 'has a decimal comma; write a decimal point, e.g. 33.3',
  'share-percent-sign': 'has a percent sign; write the number alone, e.g. 33.3',
  'share-hexadecimal': 'is a hexadecimal number; write a decimal one',
  'share-exponent': 'has an exponent; write the number in full',
  'share-sign': 'has a sign; a share is a positive number without one',
  'share-format': 'is not a number; a share is a percentage such as 25 or 33.333333',
  'share-decimals': 'has more than 6 decimals; it cannot be stored exactly',
  'share-decimal-point': 'has a decimal point, and in these files it is a comma; write e.g. 33,3',
  'share-fraction-decimals': 'has more than 8 decimals as a fraction; it cannot be stored exactly',
  'share-points-decimals': 'has more than 4 decimals as basis points; it cannot be stored exactly',
  'share-fraction-range': 'is out of range: these files have fractions, 0 < share <= 1, and a quarter is 0.25',
  'share-points-range': 'is out of range: these files have basis points, 0 < share <= 10000, and a quarter is 2500',
  'share-range': 'is out of range: 0 < share <= 100',
  // --- rows together
  'duplicate-key': 'repeats the ISRC, right type and party of an earlier row',
  'sum-above-100': 'is above 100 by more than rounding explains',
  'sum-below-100': 'is below 100 by more than rounding explains',
  'shares-as-fractions': WARNINGS.fractions,
  'part-differs': 'is not the file that its descriptor names',
  'held-rows':
    'has more tracks above 100 than may be held, so the file itself is probably wrong; see its unit and its columns',
  'track-rows': 'has more rows than one track may have',
} as const

export type SourceRule = keyof typeof SOURCE_RULES

/** What is wrong with one value: the rule's name and a sentence for the distributor. */
export type Refusal = { readonly rule: SourceRule; readonly message: string }

/**
 * One error of a reject report. `line` is the physical line on which the record begins, `column` counts the file's
 * columns from 1; each is null where the error belongs to no single line or column.
 */
export type SourceError = {
  readonly line: number | null
  readonly column: number | null
  readonly field: string | null
  /** The cell of a sheet, such as `C7`, whose row is the line; null in a text, and where there is no single cell. */
  readonly cell: string | null
  /** The file's name where a month comes in several parts. */
  readonly part?: string | undefined
  /** The value as it is in the file, cut to VALUE_CHARS_MAX characters. */
  readonly value: string
  readonly rule: SourceRule
  readonly message: string
}

/** `line 7, column 3`, or `cell C7`; empty where the error belongs to no single line or column. */
export const lineAndColumn = ({
  line,
  column,
  cell,
  part,
}: Pick<SourceError, 'line' | 'column' | 'cell' | 'part'>): string => {
  const place =
    cell === null ? [line === null ? '' : `line ${line}`, column === null ? '' : `column ${column}`] : [`cell ${cell}`]
  return [part ?? '', ...place].filter((each) => each !== '').join(', ')
}

/**
 * Everything that is known about a refused file: the first errors by line, and how many there are. Where there were so
 * many that reading stopped, `stoppedAtLine` is the line, and lines behind it were not judged.
 */
export type Rejection = {
  readonly total: number
  readonly errors: readonly SourceError[]
  readonly stoppedAtLine: number | null
}

/** Characters of a refused value that are repeated in a report: enough to find it, never a megabyte. */
const VALUE_CHARS_MAX = 60

/** A value of the file, short enough for a report. Cuts between code points, never inside a surrogate pair. */
export const shortValue = (value: string): string =>
  value.length <= VALUE_CHARS_MAX ? value : `${[...value.slice(0, VALUE_CHARS_MAX)].slice(0, -1).join('')}…`

/** The refusal of `value` under `rule`, e.g. `share "33.3%" has a percent sign; write the number alone, e.g. 33.3`. */
export const refuse = (rule: SourceRule, what: string, value?: string): Refusal => ({
  rule,
  message: `${value === undefined ? what : `${what} ${quoted(shortValue(value))}`} ${SOURCE_RULES[rule]}`,
})
