import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkSum, readShare } from '../../../functions/contract/source-values.ts'

const ruleOf = (result: unknown): string =>
  typeof result === 'object' && result !== null && 'rule' in result ? String(result.rule) : 'accepted'

describe('a share', () => {
  test.each([
    ['25', 25_000_000, 0],
    ['100', 100_000_000, 0],
    ['33.333', 33_333_000, 3],
    ['0.000001', 1, 6],
    ['33.330000', 33_330_000, 2],
    ['33.3300000000', 33_330_000, 2],
    ['25.00', 25_000_000, 0],
    ['007.5', 7_500_000, 1],
    [' 12.5\t', 12_500_000, 1],
    ['00025', 25_000_000, 0],
    ['000000100', 100_000_000, 0],
  ])('%j is %i millionths, written with %i decimals', (text, units, decimals) => {
    expect(readShare(text)).toEqual({ units, decimals })
  })

  test.each([
    ['', 'share-blank'],
    [' ', 'share-blank'],
    ['\u3000', 'share-blank'],
    ['1,234', 'share-thousands-separator'],
    ['1,234.56', 'share-thousands-separator'],
    ['12,345', 'share-thousands-separator'],
    ['1,234,567', 'share-thousands-separator'],
    ['-1,234', 'share-thousands-separator'],
    ['x1,234', 'share-format'],
    ['1,234x', 'share-format'],
    ['33,3', 'share-decimal-comma'],
    ['33,33', 'share-decimal-comma'],
    ['-33,3', 'share-decimal-comma'],
    ['x33,3', 'share-format'],
    ['33,3x', 'share-format'],
    ['33.3%', 'share-percent-sign'],
    ['３３．３', 'share-full-width'],
    ['33.3％', 'share-full-width'],
    ['0x10', 'share-hexadecimal'],
    ['-0x10', 'share-hexadecimal'],
    ['50x', 'share-format'],
    ['1e2', 'share-exponent'],
    ['12e3', 'share-exponent'],
    ['12.5e3', 'share-exponent'],
    ['1e12', 'share-exponent'],
    ['-1e2', 'share-exponent'],
    ['.55e1', 'share-exponent'],
    ['x1e2', 'share-format'],
    ['1e2x', 'share-format'],
    ['1.5E-1', 'share-exponent'],
    ['-1', 'share-sign'],
    ['-100', 'share-sign'],
    ['+25', 'share-sign'],
    ['5-3', 'share-format'],
    ['NaN', 'share-format'],
    ['Infinity', 'share-format'],
    ['1/3', 'share-format'],
    ['.5', 'share-format'],
    ['25.', 'share-format'],
    ['2 5', 'share-format'],
    ['٢٥', 'share-format'],
    ['#DIV/0!', 'share-format'],
    ['33.3333333', 'share-decimals'],
    ['33.300000000000004', 'share-decimals'],
    ['0', 'share-range'],
    ['0.000000', 'share-range'],
    ['100.000001', 'share-range'],
    ['200', 'share-range'],
    ['9007199254740993', 'share-range'],
  ])('%j is refused as %s', (text, rule) => {
    expect(ruleOf(readShare(text))).toBe(rule)
  })

  test('is exact for every number of millionths and every number of decimals, and zeros behind them say nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99 }), fc.stringMatching(/^[0-9]{1,6}$/), (whole, fraction) => {
        const units = BigInt(whole) * 1_000_000n + BigInt(fraction + '0'.repeat(6 - fraction.length))
        fc.pre(units > 0n)
        const decimals = fraction.replace(/0+$/, '').length
        for (const zeros of ['', '0', '0000000'])
          expect(readShare(`${whole}.${fraction}${zeros}`)).toEqual({ units: Number(units), decimals })
      }),
    )
  })
})

describe('a sum of shares', () => {
  const judge = (units: number, parties: number, fileDecimals: number, rule: 'exact' | 'at-most'): string =>
    ruleOf(checkSum({ isrc: 'KRA012600001', rightType: 'PERF', units, parties, fileDecimals }, rule))

  test.each([
    ['100', 100_000_000, 2, 0, 'accepted', 'accepted'],
    ['33.333 x 3', 99_999_000, 3, 3, 'accepted', 'accepted'],
    ['33.33 x 3', 99_990_000, 3, 2, 'accepted', 'accepted'],
    ['33.330000 x 3', 99_990_000, 3, 6, 'accepted', 'sum-below-100'],
    ['8.333333 x 12', 99_999_996, 12, 6, 'accepted', 'accepted'],
    ['16.666667 x 6', 100_000_002, 6, 6, 'accepted', 'accepted'],
    ['41.666667 x 2 + 16.666667', 100_000_001, 3, 6, 'accepted', 'accepted'],
    ['41.666668 x 2 + 16.666667', 100_000_003, 3, 6, 'sum-above-100', 'sum-above-100'],
    ['50 + 25', 75_000_000, 2, 0, 'accepted', 'sum-below-100'],
    ['100.0 + 0.1', 100_100_000, 2, 1, 'accepted', 'accepted'],
    ['100.0 + 0.2', 100_200_000, 2, 1, 'sum-above-100', 'sum-above-100'],
    ['one party, half a unit below', 99_999_999, 1, 6, 'accepted', 'sum-below-100'],
    ['two parties, each half a unit below', 99_000_000, 2, 0, 'accepted', 'accepted'],
    ['1 x 200', 200_000_000, 200, 0, 'sum-above-100', 'sum-above-100'],
    ['17 x 6', 102_000_000, 6, 0, 'sum-above-100', 'sum-above-100'],
    ['14 x 7 + 3', 101_000_000, 8, 0, 'accepted', 'accepted'],
    ['8 x 12', 96_000_000, 12, 0, 'accepted', 'sum-below-100'],
    ['8.3 x 12', 99_600_000, 12, 1, 'accepted', 'accepted'],
    ['1 x 99', 99_000_000, 99, 0, 'accepted', 'accepted'],
    ['5,000 parties, one millionth more than a point', 101_000_001, 5_000, 3, 'sum-above-100', 'sum-above-100'],
    ['5,000 parties, one millionth less than a point', 98_999_999, 5_000, 3, 'accepted', 'sum-below-100'],
  ] as const)('of %s is judged in exact integers', (_, units, parties, decimals, atMost, exact) => {
    expect(judge(units, parties, decimals, 'at-most')).toBe(atMost)
    expect(judge(units, parties, decimals, 'exact')).toBe(exact)
  })

  test('says how many parties it has and how the file writes its shares', () => {
    const message = (parties: number): string | undefined =>
      checkSum({ isrc: 'KRA012600001', rightType: 'PERF', units: 50_000_000, parties, fileDecimals: 2 }, 'exact')
        ?.message
    const sum = 'the sum of the shares of KRA012600001 PERF, 50.000000, is below 100 by more than rounding explains'
    expect(message(1)).toBe(`${sum} (1 party, 2 decimals in the file)`)
    expect(message(2)).toBe(`${sum} (2 parties, 2 decimals in the file)`)
  })

  test('is accepted exactly within parties x half a unit of the last decimal, and within one point', () => {
    const group = fc.record({
      units: fc.integer({ min: 98_000_000, max: 102_000_000 }),
      parties: fc.integer({ min: 1, max: 5_000 }),
      decimals: fc.integer({ min: 0, max: 6 }),
    })
    fc.assert(
      fc.property(group, ({ units, parties, decimals }) => {
        // In ten-millionths, where half a unit of six decimals is 5.
        const rounding = BigInt(parties) * 5n * 10n ** BigInt(6 - decimals)
        const tolerance = rounding < 10_000_000n ? rounding : 10_000_000n
        const excess = BigInt(units) * 10n - 1_000_000_000n
        const expected = excess > tolerance ? 'sum-above-100' : excess < -tolerance ? 'sum-below-100' : 'accepted'
        expect(judge(units, parties, decimals, 'exact')).toBe(expected)
        expect(judge(units, parties, decimals, 'at-most')).toBe(expected === 'sum-above-100' ? expected : 'accepted')
      }),
    )
  })

  test('never refuses a split that was rounded correctly to two decimals or more', () => {
    const split = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(split, fc.integer({ min: 2, max: 6 }), (weights, decimals) => {
        const total = weights.reduce((sum, weight) => sum + BigInt(weight), 0n)
        const step = 10n ** BigInt(6 - decimals)
        const rounded = weights.map((weight) => {
          const exact = 2n * 100_000_000n * BigInt(weight)
          return ((exact + total * step) / (2n * total * step)) * step
        })
        const units = Number(rounded.reduce((sum, share) => sum + share, 0n))
        expect(judge(units, weights.length, decimals, 'exact')).toBe('accepted')
      }),
    )
  })
})
