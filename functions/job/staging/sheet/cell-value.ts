import { SourceUnreadable } from '../containers/source-unreadable.ts'
import type { NumberStyle } from './number-styles.ts'
import type { SharedStrings } from './shared-strings.ts'

/**
 * What a cell of a sheet holds; a text file has texts only. A formula is what its stored value is, and `formula` where
 * it has none. A `percent` is a number that is shown a hundred times as large; a `long-number` has more digits than are
 * kept; an `escape` is a text with an escape of a spreadsheet in it.
 */
export type CellKind =
  | 'text'
  | 'number'
  | 'long-number'
  | 'percent'
  | 'date'
  | 'boolean'
  | 'error'
  | 'formula'
  | 'escape'

/** A cell as it is stored: its type, its style, the text of its value, and whether it has a formula. */
export type StoredCell = {
  readonly type: string
  readonly style: number
  readonly value: string
  readonly hasFormula: boolean
}

/** What the cells of a workbook refer to. */
export type CellContext = {
  readonly strings: SharedStrings
  readonly styles: readonly NumberStyle[]
  /** Days are counted from 1904-01-01 and not from 1900. */
  readonly from1904: boolean
}

export type CellValue = { readonly text: string; readonly kind: CellKind }

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** A spreadsheet keeps 15 digits of a number; from here on not every whole number is one. */
const DIGITS_END = 1e15

const DAY_MS = 86_400_000
const DAYS_BEFORE_1970 = 25_569
const DAYS_1900_TO_1904 = 1_462
/** 1900-02-29, which Excel has and the calendar has not. */
const LEAP_DAY_1900 = 60
/** The day after 9999-12-31. */
const DAYS_END = 2_958_466

/**
 * The shortest decimal number that is this very double, without an exponent: a stored 33.299999999999997 is the number
 * that was typed as 33.3. Nothing is rounded, and no display format is looked at.
 */
const plainDecimal = (number: number): string => {
  const text = String(number)
  const [digits = '', exponent] = text.split('e')
  if (exponent === undefined) return Object.is(number, -0) ? '0' : text
  const power = Number(exponent)
  if (power > 0) return BigInt(number).toString()
  const sign = number < 0 ? '-' : ''
  return `${sign}0.${'0'.repeat(-power - 1)}${digits.replace(/[-.]/g, '')}`
}

/** A date for people: it is refused where it is needed, and shown where it is ignored. */
const dateText = (number: number, from1904: boolean): string => {
  const days = from1904 ? number + DAYS_1900_TO_1904 : number
  if (days < 1 || days >= DAYS_END) return plainDecimal(number)
  const real = days < LEAP_DAY_1900 ? days + 1 : days
  const text = new Date(Math.round((real - DAYS_BEFORE_1970) * DAY_MS)).toISOString()
  return days % 1 === 0 ? text.slice(0, 10) : text.slice(0, 19).replace('T', ' ')
}

const numberValue = (value: string, style: NumberStyle, from1904: boolean): CellValue => {
  const text = value.trim()
  const number = Number(text)
  if (!NUMBER.test(text) || !Number.isFinite(number)) throw new SourceUnreadable('sheet-damaged', { seen: 'no number' })
  if (style === 'date') return { text: dateText(number, from1904), kind: 'date' }
  if (style === 'percent') return { text: plainDecimal(number), kind: 'percent' }
  return { text: plainDecimal(number), kind: Math.abs(number) >= DIGITS_END ? 'long-number' : 'number' }
}

const ESCAPE = /_x([0-9a-f]{4})_/gi

/** Escapes of line breaks and tabs are what they stand for; of any other the writer may have meant the letters. */
const textValue = (stored: string): CellValue => {
  if (!stored.includes('_x')) return { text: stored, kind: 'text' }
  const text = stored.replace(ESCAPE, (found, code: string) => {
    const unit = Number.parseInt(code, 16)
    return unit < 0x20 ? String.fromCharCode(unit) : found
  })
  return { text, kind: text.search(ESCAPE) < 0 ? 'text' : 'escape' }
}

/** A workbook without styles has one, the plain one. */
const styleOf = (style: number, styles: readonly NumberStyle[]): NumberStyle => {
  const found = style === 0 && styles.length === 0 ? 'plain' : styles[style]
  if (found === undefined) throw new SourceUnreadable('sheet-damaged', { seen: 'a style that is not there' })
  return found
}

const BLANK: CellValue = { text: '', kind: 'text' }

/** The value of a cell as it is stored, never as it is shown. @throws SourceUnreadable where the workbook is damaged */
export const cellValue = ({ type, style, value, hasFormula }: StoredCell, context: CellContext): CellValue => {
  if (type === 'inlineStr' || type === 'str') return textValue(value)
  if (value === '') return hasFormula ? { text: '', kind: 'formula' } : BLANK
  switch (type) {
    case 's': {
      const text = /^\s*\d+\s*$/.test(value) ? context.strings.at(Number(value)) : undefined
      if (text === undefined) throw new SourceUnreadable('sheet-damaged', { seen: 'a text that is not there' })
      return textValue(text)
    }
    case 'b':
      return { text: value.trim() === '1' ? 'TRUE' : 'FALSE', kind: 'boolean' }
    case 'e':
      return { text: value, kind: 'error' }
    case 'd':
      return { text: value, kind: 'date' }
    case 'n':
      return numberValue(value, styleOf(style, context.styles), context.from1904)
    default:
      throw new SourceUnreadable('sheet-damaged', { seen: 'a cell of an unknown type' })
  }
}
