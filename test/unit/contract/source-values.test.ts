import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SOURCE_RULES, shortValue } from '../../../functions/contract/source-refusals.ts'
import { readIsrc, readPartyId, readRightType, readShare } from '../../../functions/contract/source-values.ts'

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
