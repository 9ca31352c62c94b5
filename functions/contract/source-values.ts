import { formatUnits } from './manifest.ts'
import { CANONICAL, type ShareForm } from './profile.ts'
import { type Share, shareOf } from './share-text.ts'
import { SHARE_DECIMALS, SHARE_SUM_MAX_UNITS, SUM_TOLERANCE_MAX_UNITS } from './source-limits.ts'
import { type Refusal, refuse, SOURCE_COLUMNS, type SourceColumn, type SourceRules } from './source-refusals.ts'
import type { PartyScheme, SumRule } from './words.ts'

/**
 * The rules of a distributor's file, value by value: each function takes the text as it is in the file and returns
 * the normalised value or the refusal. Spaces and tabs around a value are dropped; nothing else is guessed.
 * Every normalised value is ASCII without spaces, which the order of the rows relies on.
 */

const ISRC = /^[A-Z]{2}[A-Z0-9]{3}[0-9]{7}$/
const RIGHT_TYPE = /^[A-Za-z0-9_-]{1,20}$/
const PARTY_ID = /^[A-Za-z0-9._-]{1,20}$/
const IPI_DIGITS = 11

/** `1.23457E+12` is what Excel, and `1.23457E12` what Java, makes of a long number. */
const SPREADSHEET_NUMBER = /^(\d\.\d+E\+?\d+|\dE\+\d+)$/i

const SURROUNDING_SPACE = /^[ \t]+|[ \t]+$/g
const trimmed = (text: string): string => {
  const first = text.charCodeAt(0)
  const last = text.charCodeAt(text.length - 1)
  return first === 32 || first === 9 || last === 32 || last === 9 ? text.replace(SURROUNDING_SPACE, '') : text
}

/**
 * An ISRC (ISO 3901) without its presentation: hyphens, spaces and a leading `ISRC` are dropped, letters upper-cased.
 * `ISRC12600001` stays what it is: an Icelandic code (IS) whose registrant is RC1.
 */
export const readIsrc = (text: string): string | Refusal => {
  if (ISRC.test(text)) return text
  const value = trimmed(text)
  if (value === '') return refuse('isrc-blank', 'isrc', text)
  if (SPREADSHEET_NUMBER.test(value)) return refuse('excel-number', 'isrc', text)
  // Letters such as the long s upper-case to ASCII ones: only ASCII is upper-cased.
  if (!/^[A-Za-z0-9 -]+$/.test(value)) return refuse('isrc-format', 'isrc', text)
  const code = value.replace(/[ -]/g, '').toUpperCase()
  if (ISRC.test(code)) return code
  const bare = code.startsWith('ISRC') ? code.slice(4) : code
  return ISRC.test(bare) ? bare : refuse('isrc-format', 'isrc', text)
}

/** A right type: 1-20 of letters, digits, `_` and `-`, upper-cased. */
export const readRightType = (text: string): string | Refusal => {
  const value = trimmed(text)
  if (value === '') return refuse('right-type-blank', 'right_type', text)
  return RIGHT_TYPE.test(value) ? value.toUpperCase() : refuse('right-type-format', 'right_type', text)
}

/** A party id, which is text and never a number: its zeros and its case are kept. */
export const readPartyId = (text: string, scheme: PartyScheme): string | Refusal => {
  const value = trimmed(text)
  if (value === '') return refuse('party-blank', 'party_id', text)
  if (SPREADSHEET_NUMBER.test(value)) return refuse('excel-number', 'party_id', text)
  if (scheme === 'opaque') return PARTY_ID.test(value) ? value : refuse('party-format', 'party_id', text)
  if (!/^[0-9]+$/.test(value)) return refuse('ipi-format', 'party_id', text)
  if (value.length !== IPI_DIGITS) return refuse('ipi-length', 'party_id', text)
  return ipiCheckDigits(value) === value.slice(9) ? value : refuse('ipi-check-digits', 'party_id', text)
}

/**
 * The two check digits of an IPI name number: the first nine digits weighted 10 to 2, modulo 101; 0 gives `00`, any
 * other remainder its complement to 101 modulo 100. CISAC does not publish the rule; this is how django-music-publisher
 * (music_publisher/validators.py, check_ipi_digit) has it, and it holds for published numbers such as 00014107338,
 * 00045620792, 00052210040 and 00334284961.
 */
const ipiCheckDigits = (digits: string): string => {
  let sum = 0
  for (let place = 0; place < 9; place++) sum += (digits.charCodeAt(place) - 48) * (10 - place)
  const remainder = sum % 101
  return String(remainder === 0 ? 0 : (101 - remainder) % 100).padStart(2, '0')
}

/** A share as a percentage, or as the profile says; see shareOf. */
export const readShare = (text: string, form: ShareForm = CANONICAL): Share | Refusal => {
  const value = trimmed(text)
  return value.trim() === '' ? refuse('share-blank', 'share', text) : shareOf(value, text, form)
}

/** One row, each of its columns read. */
export type RowValues = {
  readonly isrc: string
  readonly right_type: string
  readonly party_id: string
  readonly share: Share
}

/** The same where a column may have been refused. */
type RowRead = { readonly [Column in keyof RowValues]: RowValues[Column] | Refusal }

/** Reads every column of a row. @param text of a column, as it is in the file */
export const readRow = (
  text: (column: SourceColumn) => string,
  { partyScheme }: SourceRules,
  form: ShareForm,
): RowRead => ({
  isrc: readIsrc(text('isrc')),
  right_type: readRightType(text('right_type')),
  party_id: readPartyId(text('party_id'), partyScheme),
  share: readShare(text('share'), form),
})

export const isRefusal = (read: string | Share | Refusal): read is Refusal => typeof read === 'object' && 'rule' in read

/** True where no column was refused. */
export const isWhole = (read: RowRead): read is RowValues => !SOURCE_COLUMNS.some((column) => isRefusal(read[column]))

/** The shares of one track and right type together. */
export type ShareGroup = {
  readonly isrc: string
  readonly rightType: string
  /** Their exact sum in millionths. */
  readonly units: number
  readonly parties: number
  /** The largest number of decimals any share of the file is written with, trailing zeros included. */
  readonly fileDecimals: number
}

/**
 * Judges a sum of shares in exact integers. A share rounded to the file's last decimal is off by at most half a unit of
 * it, so a correctly rounded split of 100 % is off by at most parties x half a unit. Rounding errs to both sides
 * (8.333333 x 12 = 99.999996, 16.666667 x 6 = 100.000002), so the tolerance holds on both: above it a sum is refused
 * under either rule, below it under `exact`. It never exceeds SUM_TOLERANCE_MAX_UNITS. The tolerance only decides
 * acceptance: what is stored, and what the manifest sums up, is what the file says.
 * See decisions.md, "The sum's tolerance counts on both sides".
 */
export const checkSum = (group: ShareGroup, sumRule: SumRule): Refusal | undefined => {
  // Doubled, because half a millionth is no integer.
  const rounding = group.parties * 10 ** (SHARE_DECIMALS - group.fileDecimals)
  const tolerance = Math.min(rounding, 2 * SUM_TOLERANCE_MAX_UNITS)
  const excess = 2 * (group.units - SHARE_SUM_MAX_UNITS)
  if (excess <= tolerance && (sumRule === 'at-most' || excess >= -tolerance)) return undefined
  const rule = excess > 0 ? 'sum-above-100' : 'sum-below-100'
  const what = `the sum of the shares of ${group.isrc} ${group.rightType}, ${formatUnits(BigInt(group.units))},`
  const parties = group.parties === 1 ? '1 party' : `${group.parties} parties`
  const refusal = refuse(rule, what)
  return { rule, message: `${refusal.message} (${parties}, ${group.fileDecimals} decimals in the file)` }
}
