import { type Refusal, refuse, type SourceColumn } from './source-refusals.ts'
import { hiddenCodePoints, withoutHidden } from './visible.ts'

/** `="00014107338"`, which makes Excel keep the zeros. */
const FORMULA = /^\s*=/

/** What is in a text that nobody typed there: a refusal that says more than "is not an ISRC". */
export const foreignText = (what: string, text: string): Refusal | undefined => {
  if (FORMULA.test(text)) return refuse('excel-formula', what, text)
  const hidden = hiddenCodePoints(text)
  if (hidden.length === 0) return undefined
  const { rule, message } = refuse('hidden-character', what, text)
  return { rule, message: `${message} (${hidden.join(', ')})` }
}

/** The text that is left without it. */
export const withoutForeign = (text: string): string => withoutHidden(text.replace(/^\s*="?|"\s*$/g, ''))

/** The refusal of a value, or the one that names what does not belong into it. */
export const explained = (refusal: Refusal, column: SourceColumn, text: string): Refusal =>
  text.trim() === '' ? refusal : (foreignText(column, text) ?? refusal)
