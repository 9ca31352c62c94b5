import fc from 'fast-check'
import type { Manifest } from '../../../../functions/contract/manifest.ts'
import type { ReadResult } from '../../../../functions/job/staging/read-source.ts'
import { HEADER } from '../../../support/staging.ts'

export type Row = { isrc: string; rightType: string; party: string; units: number }

export const manifestOf = (result: ReadResult): Manifest => {
  if (!result.accepted) throw new Error(JSON.stringify(result.rejection.errors[0]))
  return result.source.manifest
}

export const decimal = (units: number): string => `${Math.floor(units / 1e6)}.${String(units % 1e6).padStart(6, '0')}`

export const csvOf = (rows: readonly Row[]): string =>
  HEADER + rows.map((row) => `${row.isrc},${row.rightType},${row.party},${decimal(row.units)}\n`).join('')

/** MySQL's comparison under ascii_bin: the shorter value is padded with spaces, then bytes are compared. */
const compareAsMysql = (a: string, b: string): number => {
  const length = Math.max(a.length, b.length)
  return Buffer.compare(Buffer.from(a.padEnd(length, ' ')), Buffer.from(b.padEnd(length, ' ')))
}

export const compareKeys = (a: Row, b: Row): number =>
  compareAsMysql(a.isrc, b.isrc) || compareAsMysql(a.rightType, b.rightType) || compareAsMysql(a.party, b.party)

export const isrc = fc.stringMatching(/^[A-Z]{2}[A-Z0-9]{3}[0-9]{7}$/)
const fewIsrcs = fc.constantFrom('KRA012600001', 'KRA012600002', 'KRA0A2600001', 'AZZZZ9999999', 'KRA112600001')

const row: fc.Arbitrary<Row> = fc.record({
  isrc: fc.oneof(isrc, fewIsrcs),
  rightType: fc.oneof(fc.constantFrom('P', 'P-', 'P0', 'PA', 'P_'), fc.stringMatching(/^[A-Z0-9_-]{1,20}$/)),
  party: fc.oneof(fc.constantFrom('A', 'A.', 'A-', 'a', 'A0', 'AA'), fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/)),
  units: fc.integer({ min: 1, max: 1_000_000 }),
})

export const rows = fc.uniqueArray(row, {
  minLength: 1,
  maxLength: 60,
  selector: (value) => `${value.isrc}\t${value.rightType}\t${value.party}`,
})
