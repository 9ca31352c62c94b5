import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SOURCE_RULES, shortValue } from '../../../functions/contract/source-refusals.ts'
import { checkSum, readIsrc, readPartyId, readRightType, readShare } from '../../../functions/contract/source-values.ts'

const ruleOf = (result: unknown): string =>
  typeof result === 'object' && result !== null && 'rule' in result ? String(result.rule) : 'accepted'

describe('an ISRC', () => {
  test.each([
    ['KRA012600001', 'KRA012600001'],
    ['KR-A01-26-00001', 'KRA012600001'],
    ['kr a01 26 00001', 'KRA012600001'],
    ['ISRC KR-A01-26-00001', 'KRA012600001'],
    ['isrckra012600001', 'KRA012600001'],
    ['\t KRA012600001 ', 'KRA012600001'],
    // Icelandic codes begin with IS, and RC1 is a registrant like any other.
    ['ISRC12600001', 'ISRC12600001'],
    ['IS-RC1-26-00001', 'ISRC12600001'],
    ['ISRC ISRC12600001', 'ISRC12600001'],
  ])('%j is %s', (text, expected) => {
    expect(readIsrc(text)).toBe(expected)
  })

  test.each([
    ['', 'isrc-blank'],
    [' \t', 'isrc-blank'],
    ['1.23457E+12', 'excel-number'],
    ['KRA01260001', 'isrc-format'],
    ['KRA0126000011', 'isrc-format'],
    ['1RA012600001', 'isrc-format'],
    ['KRA0126O0001', 'isrc-format'],
    ['KRA01２600001', 'isrc-format'],
    // The long s upper-cases to S.
    ['KRſ012600001', 'isrc-format'],
    ['#N/A', 'isrc-format'],
  ])('%j is refused as %s', (text, rule) => {
    expect(ruleOf(readIsrc(text))).toBe(rule)
  })
})

describe('a right type', () => {
  test('is upper-cased and trimmed', () => {
    expect(readRightType(' Performance ')).toBe('PERFORMANCE')
    expect(readRightType('a_b-1')).toBe('A_B-1')
  })

  test.each([' PERF', '  PERF', '\tPERF', 'PERF ', 'PERF  ', 'PERF\t', '\t PERF \t'])(
    'in %j loses its surroundings',
    (text) => {
      expect(readRightType(text)).toBe('PERF')
    },
  )

  test.each([' A B', 'A B ', ' A\tB '])('%j keeps what is inside it, and is refused for it', (text) => {
    expect(ruleOf(readRightType(text))).toBe('right-type-format')
  })

  test.each([
    ['', 'right-type-blank'],
    ['A B', 'right-type-format'],
    ['ABCDEFGHIJKLMNOPQRSTU', 'right-type-format'],
    ['공연', 'right-type-format'],
    // The German sharp s upper-cases to SS.
    ['stra\u00dfe', 'right-type-format'],
  ])('%j is refused as %s', (text, rule) => {
    expect(ruleOf(readRightType(text))).toBe(rule)
  })
})

describe('a party', () => {
  test.each([
    '9007199254740993',
    '00014107338',
    'KOMCA.0001234',
    'a-B_9',
    '12345678901234567890',
    'KOMCA.1.5E12',
    '1.5E12-B',
  ])('%s keeps every character', (text) => {
    expect(readPartyId(text, 'opaque')).toBe(text)
  })

  test.each([
    ['', 'party-blank'],
    ['1.23457E+12', 'excel-number'],
    ['1.23457e12', 'excel-number'],
    ['9E+15', 'excel-number'],
    ['123456789012345678901', 'party-format'],
    ['KOMCA 1', 'party-format'],
    ['홍길동', 'party-format'],
  ])('%j is refused as %s', (text, rule) => {
    expect(ruleOf(readPartyId(text, 'opaque'))).toBe(rule)
  })

  // Published: Benny Hill; Prince under three names (Wikipedia, Interested Parties Information).
  test.each(['00014107338', '00045620792', '00052210040', '00334284961'])('%s is an IPI name number', (text) => {
    expect(readPartyId(text, 'ipi')).toBe(text)
  })

  // 9x10 + 3x3 + 1x2 = 101 leaves 0; 9x10 + 6x2 = 102 leaves 1, whose complement 100 has two digits only as 00.
  test.each(['90000003100', '90000000600'])('%s has the check digits 00', (text) => {
    expect(readPartyId(text, 'ipi')).toBe(text)
  })

  test.each([
    ['00014107339', 'ipi-check-digits'],
    ['00014107383', 'ipi-check-digits'],
    ['00041107338', 'ipi-check-digits'],
    ['14107338', 'ipi-length'],
    ['000014107338', 'ipi-length'],
    ['1.41E+07', 'excel-number'],
    ['I-000000229-7', 'ipi-format'],
    ['14107338.0', 'ipi-format'],
  ])('%s is refused as %s', (text, rule) => {
    expect(ruleOf(readPartyId(text, 'ipi'))).toBe(rule)
  })

  test('with a single wrong digit is never an IPI name number', () => {
    const digit = fc.integer({ min: 0, max: 9 })
    fc.assert(
      fc.property(
        fc.constantFrom('00014107338', '00045620792'),
        fc.integer({ min: 0, max: 8 }),
        digit,
        (ipi, at, to) => {
          fc.pre(ipi[at] !== String(to))
          expect(ruleOf(readPartyId(ipi.slice(0, at) + to + ipi.slice(at + 1), 'ipi'))).toBe('ipi-check-digits')
        },
      ),
    )
  })
})

describe('a share', () => {
  test.each([
    ['25', 25_000_000, 0],
    ['100', 100_000_000, 0],
    ['33.333', 33_333_000, 3],
    ['0.000001', 1, 6],
    ['33.330000', 33_330_000, 6],
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

  test('is exact for every number of millionths and every number of decimals', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99 }), fc.stringMatching(/^[0-9]{1,6}$/), (whole, fraction) => {
        const units = BigInt(whole) * 1_000_000n + BigInt(fraction + '0'.repeat(6 - fraction.length))
        fc.pre(units > 0n)
        expect(readShare(`${whole}.${fraction}`)).toEqual({ units: Number(units), decimals: fraction.length })
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

describe('a refusal', () => {
  test('names the field, the value and what is expected', () => {
    expect(readShare('33.3%')).toEqual({
      rule: 'share-percent-sign',
      message: 'share "33.3%" has a percent sign; write the number alone, e.g. 33.3',
    })
  })

  test('repeats at most 60 characters of a value and never half a character', () => {
    expect(shortValue('x'.repeat(4_000))).toHaveLength(60)
    expect(shortValue('😀'.repeat(40)).isWellFormed()).toBe(true)
    expect(shortValue('x'.repeat(60))).toBe('x'.repeat(60))
  })

  test('has a name that needs no other', () => {
    for (const rule of Object.keys(SOURCE_RULES)) expect(rule).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
  })
})
