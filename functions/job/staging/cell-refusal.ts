import { type Refusal, refuse, type SourceColumn, type SourceRule } from '../../contract/source-refusals.ts'
import type { CellKind } from './record-reader.ts'

const RULE_OF: Readonly<Record<Exclude<CellKind, 'text'>, SourceRule>> = {
  number: 'cell-number',
  date: 'cell-date',
  boolean: 'cell-boolean',
  error: 'cell-error',
}

/** Why the cell of a column does not hold what its writer wrote: a spreadsheet made another value of it. */
export const cellRefusal = (
  column: SourceColumn,
  fields: readonly string[],
  place: number,
  kinds: readonly CellKind[] | undefined,
): Refusal | undefined => {
  const kind = kinds?.[place] ?? 'text'
  if (kind === 'text' || (kind === 'number' && column === 'share')) return undefined
  return refuse(RULE_OF[kind], column, fields[place] ?? '')
}
