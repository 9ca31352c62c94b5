import { visible } from './visible.ts'

/** What a spreadsheet takes for the beginning of a formula, blanks before it included. */
const FORMULA = /^[\s\ufeff]*[=+\-@|%]/

/**
 * A value as text: what would be a formula begins with an apostrophe, which spreadsheets take for "this is text". What is not
 * visible is shown by its code point, a line break too, so that a record is one line.
 */
export const csvCell = (value: string | number | null): string => {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = visible(value)
  return `"${(FORMULA.test(value) || FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}
