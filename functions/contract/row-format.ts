import { SHARE_DECIMALS } from './source-limits.ts'

/*
 * One row of a month, as it travels: the columns of a delivered file, a line of a staged object, LOAD DATA, the table's key
 * and the readers' view. A new column begins here; a test compares the schema with it.
 */

/** What identifies a row within its slice, in the order of the table's key. */
const ROW_KEY_COLUMNS = ['isrc', 'right_type', 'party_id'] as const

/** The columns of a row, in the order in which they are written. */
export const ROW_COLUMNS = [...ROW_KEY_COLUMNS, 'share'] as const

type RowColumn = (typeof ROW_COLUMNS)[number]

/** A row that every rule accepts, for programs that make files of their own. */
export const EXAMPLE_ROW: Readonly<Record<RowColumn, string>> = {
  isrc: 'KRA012600001',
  right_type: 'PERFORMANCE',
  party_id: 'KOMCA.0001234',
  share: '100',
}

export const CSV_HEADER = `${ROW_COLUMNS.join(',')}\n`

/** A row of a delivered file; its values need no quotes. */
export const csvLine = (row: Readonly<Record<RowColumn, string>>): string =>
  `${ROW_COLUMNS.map((column) => row[column]).join(',')}\n`

/** What names the slot of a row in the table, ahead of the row's own columns. */
export const SLOT_COLUMNS = ['distributor_id', 'settlement_month', 'slot'] as const

/** The table's clustered key: the order of a delete, of a walk, and of staged rows. */
export const ROW_ORDER = [...SLOT_COLUMNS, ...ROW_KEY_COLUMNS].join(', ')

/**
 * The tracks of the two border rows of a slot, below and above every ISRC. They are never shown: everything reads strictly
 * between them, so that a reader's locks end within its own slot.
 * See decisions.md, "Border rows keep a reader's locks in its slot".
 */
export const BORDER_TRACKS = { lowest: '', highest: '[' } as const

/** Between two values of a line; it is below every character of a value, so keys of lines sort as the table's key does. */
export const VALUE_END = '\t'
export const LINE_END = '\n'

/**
 * Bytes of the longest line, all of it ASCII: an ISRC of 12, a right type and a party of 20 each, `100.000000`, three tabs
 * and the line feed.
 */
export const LINE_BYTES_MAX = 12 + 20 + 20 + 10 + 4

/** The values of many rows, each by the row's number; `units` is the share in millionths. */
export type Rows = {
  isrc(row: number): string
  rightType(row: number): string
  party(row: number): string
  units(row: number): number
}

/** What the lines of one track and right type begin with; made once for all of its parties. */
export const lineBegin = (rows: Rows, row: number): string =>
  `${rows.isrc(row)}${VALUE_END}${rows.rightType(row)}${VALUE_END}`

/** What follows `lineBegin`. */
export const lineRest = (rows: Rows, row: number): string => {
  const share = rows
    .units(row)
    .toString()
    .padStart(SHARE_DECIMALS + 1, '0')
  return `${rows.party(row)}${VALUE_END}${share.slice(0, -SHARE_DECIMALS)}.${share.slice(-SHARE_DECIMALS)}${LINE_END}`
}

/** A line without its end: its key, which compares as text, and its share. */
export const splitLine = (line: string): { readonly key: string; readonly share: string } => {
  const at = line.lastIndexOf(VALUE_END)
  return { key: line.slice(0, at), share: line.slice(at + 1) }
}
