import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  LINE_BYTES_MAX,
  LINE_END,
  lineBegin,
  lineRest,
  type Rows,
  splitLine,
} from '../../../functions/contract/row-format.ts'

const rowsOf = (isrc: string, rightType: string, party: string, units: number): Rows => ({
  isrc: () => isrc,
  rightType: () => rightType,
  party: () => party,
  units: () => units,
})
const lineOf = (...values: Parameters<typeof rowsOf>): string =>
  lineBegin(rowsOf(...values), 0) + lineRest(rowsOf(...values), 0)

test('a line is the four values with tabs between, and the share has six decimals', () => {
  expect(lineOf('KRA012600001', 'PERFORMANCE', 'KOMCA.0001', 33_333_333)).toBe(
    'KRA012600001\tPERFORMANCE\tKOMCA.0001\t33.333333\n',
  )
  expect(lineOf('I', 'T', 'P', 1)).toBe('I\tT\tP\t0.000001\n')
  expect(lineOf('I', 'T', 'P', 100_000_000)).toBe('I\tT\tP\t100.000000\n')
})

test('the longest values make the longest line', () => {
  expect(lineOf('K'.repeat(12), 'R'.repeat(20), 'P'.repeat(20), 100_000_000)).toHaveLength(LINE_BYTES_MAX)
})

test('a line is split into the key and the share that it was made of', () => {
  const text = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/)
  fc.assert(
    fc.property(text, text, text, fc.integer({ min: 1, max: 100_000_000 }), (isrc, rightType, party, units) => {
      const line = lineOf(isrc, rightType, party, units)
      const { key, share } = splitLine(line.slice(0, -LINE_END.length))
      expect(key).toBe(`${isrc}\t${rightType}\t${party}`)
      expect(Number(share.replace('.', ''))).toBe(units)
    }),
  )
})
