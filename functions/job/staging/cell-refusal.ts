import type { ShareForm } from '../../contract/profile.ts'
import { type Refusal, refuse, type SourceColumn, type SourceRule } from '../../contract/source-refusals.ts'
import type { CellKind } from './sheet/cell-value.ts'

const RULE_OF: Readonly<Record<Exclude<CellKind, 'text'>, SourceRule>> = {
  number: 'cell-number',
  'long-number': 'cell-digits',
  percent: 'cell-number',
  date: 'cell-date',
  boolean: 'cell-boolean',
  error: 'cell-error',
  formula: 'cell-formula',
  escape: 'cell-escape',
}

/** Numbers that a share may be. */
const NUMBERS: readonly CellKind[] = ['number', 'long-number', 'percent']

/** Why a share may not be the number that it is stored as. */
const shareRule = (kind: CellKind, unit: ShareForm['shareUnit']): SourceRule | undefined =>
  kind === 'percent' && unit !== 'fraction' ? 'cell-percent' : undefined

/**
 * Why the cell of a column does not hold what its writer wrote: a spreadsheet made another value of it. A number is fine
 * as a share and nowhere else, since a spreadsheet drops the zeros that an id begins with. A share that is shown as 25 %
 * is stored as 0.25: as a percentage it would be a hundredth.
 */
export const cellRefusal = (
  column: SourceColumn,
  fields: readonly string[],
  place: number,
  kinds: readonly CellKind[] | undefined,
  { shareUnit }: ShareForm,
): Refusal | undefined => {
  const kind = kinds?.[place] ?? 'text'
  if (kind === 'text') return undefined
  const rule = column === 'share' && NUMBERS.includes(kind) ? shareRule(kind, shareUnit) : RULE_OF[kind]
  return rule === undefined ? undefined : refuse(rule, column, fields[place] ?? '')
}

/** How the share of a record is written: a number of a sheet has a decimal point, whatever texts have. */
export const formOf = (kind: CellKind | undefined, form: ShareForm): ShareForm =>
  kind !== undefined && NUMBERS.includes(kind) ? { ...form, decimalSign: '.' } : form
