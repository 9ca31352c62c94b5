import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LINE_BYTES_MAX, LINE_END, lineBegin, lineRest, splitLine } from '../../../functions/contract/row-format.ts'

test('a line is the four values with tabs between, and the share has six decimals', () => {
  expect(lineBegin('KRA012600001', 'PERFORMANCE') + lineRest('KOMCA.0001', 33_333_333)).toBe(
    'KRA012600001\tPERFORMANCE\tKOMCA.0001\t33.333333\n',
  )
  expect(lineRest('P', 1)).toBe('P\t0.000001\n')
  expect(lineRest('P', 100_000_000)).toBe('P\t100.000000\n')
})

test('the longest values make the longest line', () => {
  expect(lineBegin('K'.repeat(12), 'R'.repeat(20)) + lineRest('P'.repeat(20), 100_000_000)).toHaveLength(LINE_BYTES_MAX)
})

test('a line is split into the key and the share that it was made of', () => {
  const text = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}$/)
  fc.assert(
    fc.property(text, text, text, fc.integer({ min: 1, max: 100_000_000 }), (isrc, rightType, party, units) => {
      const line = lineBegin(isrc, rightType) + lineRest(party, units)
      const { key, share } = splitLine(line.slice(0, -LINE_END.length))
      expect(key).toBe(`${isrc}\t${rightType}\t${party}`)
      expect(Number(share.replace('.', ''))).toBe(units)
    }),
  )
})
