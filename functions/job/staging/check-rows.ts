import { formatUnits } from '../../contract/manifest.ts'
import { refuse, type SourceRules } from '../../contract/source-refusals.ts'
import { checkSum } from '../../contract/source-values.ts'
import { HeldTracks } from './held-rows.ts'
import type { SortedRows } from './row-table.ts'
import type { SourceErrors } from './source-errors.ts'
import type { SourceWarnings } from './source-warnings.ts'

/**
 * The rules that concern rows together: duplicate keys, sums of shares, rows of a track. Errors are at the line of
 * the repetition, or at the first line of the track and right type.
 *
 * A sum is judged only where it means something: not in a group with a duplicate, which is the cause to fix; and not
 * below 100 while other errors exist, since a refused row may be what is missing.
 *
 * @returns the tracks above 100 where the distributor's rule is to hold them: then they are no error
 */
export const checkRows = (
  rows: SortedRows,
  decimals: number,
  rules: SourceRules,
  trackRowsMax: number,
  errors: SourceErrors,
  warnings: SourceWarnings,
): HeldTracks => {
  const errorsBefore = errors.total
  const held = new HeldTracks()
  let trackStart = 0
  let groupStart = 0
  for (let row = 1; row <= rows.count; row++) {
    const ends = row === rows.count
    if (ends || !rows.continuesGroup(row)) {
      const sumRules = { ...rules, sumRule: errorsBefore > 0 ? 'at-most' : rules.sumRule } as const
      checkGroup(rows, groupStart, row, decimals, sumRules, { errors, warnings, held })
      groupStart = row
    }
    if (ends || !rows.continuesTrack(row)) {
      if (row - trackStart > trackRowsMax) {
        const what = `the track ${rows.isrc(trackStart)} with ${row - trackStart} rows`
        errors.add(refuse('track-rows', what), { line: firstLine(rows, trackStart, row) }, rows.isrc(trackStart))
      }
      held.endTrack(trackStart, row)
      trackStart = row
    }
  }
  return held
}

/** Where what is found goes. */
type Found = { readonly errors: SourceErrors; readonly warnings: SourceWarnings; readonly held: HeldTracks }

const checkGroup = (
  rows: SortedRows,
  from: number,
  to: number,
  fileDecimals: number,
  { sumRule, overClaim }: SourceRules,
  { errors, warnings, held }: Found,
): void => {
  let units = 0
  let repeated = false
  let original = from
  for (let row = from; row < to; row++) {
    // At most SOURCE_ROWS_MAX x 100 % in millionths, which is below 2^53: the sum is exact.
    units += rows.units(row)
    if (row === from || !rows.repeatsKey(row)) {
      original = row
      continue
    }
    repeated = true
    const key = `${rows.isrc(row)},${rows.rightType(row)},${rows.party(row)}`
    const refusal = refuse('duplicate-key', 'the row', key)
    const message = `${refusal.message}: ${errors.places.textOf(rows.line(row))} and ${errors.places.textOf(rows.line(original))}`
    errors.add({ rule: refusal.rule, message }, { line: rows.line(row) }, key)
  }
  if (repeated) return
  warnings.seeSum(units, rows.line(from), () => formatUnits(BigInt(units)))
  const group = { isrc: rows.isrc(from), rightType: rows.rightType(from), units, parties: to - from, fileDecimals }
  const refusal = checkSum(group, sumRule)
  if (refusal?.rule === 'sum-above-100' && overClaim === 'hold') held.markTrack()
  else if (refusal !== undefined)
    errors.add(refusal, { line: firstLine(rows, from, to), field: 'share' }, formatUnits(BigInt(units)))
}

const firstLine = (rows: SortedRows, from: number, to: number): number => {
  let line = rows.line(from)
  for (let row = from + 1; row < to; row++) line = Math.min(line, rows.line(row))
  return line
}
