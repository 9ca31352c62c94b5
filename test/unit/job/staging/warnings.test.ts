import { describe, expect, test } from 'vitest'
import { WARNING_EXAMPLES_MAX } from '../../../../functions/contract/source-limits.ts'
import { namedMonth, suspectId } from '../../../../functions/contract/suspect-ids.ts'
import type { Warning } from '../../../../functions/contract/warnings.ts'
import { neighbourWarnings } from '../../../../functions/contract/warnings.ts'
import type { ReadOptions } from '../../../../functions/job/staging/read-source.ts'
import { AT_MOST, EXACT, errorsOf, HEADER, stageText } from '../../../support/staging.ts'

const warningsOf = async (csv: string, rules = AT_MOST, options?: ReadOptions): Promise<readonly Warning[]> => {
  const result = await stageText(csv, rules, options)
  if (!result.accepted) throw new Error(`refused: ${JSON.stringify(result.rejection)}`)
  return result.warnings
}
const isrc = (number: number): string => `KRA01260${String(number).padStart(4, '0')}`
const rowsOf = (...shares: string[]): string =>
  shares.map((share, index) => `${isrc(index)},PERFORMANCE,KOMCA.1,${share}\n`).join('')

test('a clean file has no warning', async () => {
  expect(await warningsOf(HEADER + rowsOf('100', '75', '33.333333'))).toEqual([])
})

describe('ids that a tool made', () => {
  test.each([
    ['empty-ids', ['nan', 'NaN', 'None', 'NULL', 'null', 'NA', 'NaT', 'undefined', '-inf', 'TRUE']],
    ['number-ids', ['14107338.0', '14107338.00', '1e5', '12E-3', '1.5E7']],
    ['date-ids', ['2026-10-01', '2026.1.9', '01-10-2026', '1-Oct', '1-Oct-26', 'Mar-26', 'SEP-2026']],
    ['zero-ids', ['0', '00000000000', '0.0']],
    [undefined, ['KOMCA.0001234', '00014107338', '14107338', 'NAN.1', 'NONESUCH', 'MARCH', 'A-2026', '1.5', 'E5']],
  ])('%s', (name, ids) => {
    expect(ids.map((id) => [id, suspectId(id)])).toEqual(ids.map((id) => [id, name]))
  })

  test('are counted by row, with the first lines, in parties and right types', async () => {
    const rows = Array.from({ length: 9 }, (_, index) => `${isrc(9 - index)},PERFORMANCE,nan,50\n`).join('')
    const [first, ...others] = await warningsOf(`${HEADER}${rows}${isrc(1)},None,KOMCA.1,50\n`)
    expect(others).toEqual([])
    expect(first).toMatchObject({ name: 'empty-ids', count: 10 })
    expect(first?.examples).toHaveLength(WARNING_EXAMPLES_MAX)
    expect(first?.examples[0]).toEqual({ line: 2, field: 'party_id', value: 'nan' })
    expect(first?.examples.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6])
  })

  test('an IPI of eleven zeros has the right check digits, and is a warning', async () => {
    const csv = `${HEADER}${isrc(1)},PERFORMANCE,00000000000,50\n${isrc(1)},PERFORMANCE,00014107338,50\n`
    const warnings = await warningsOf(csv, { ...AT_MOST, partyScheme: 'ipi' })
    expect(warnings).toMatchObject([{ name: 'zero-ids', count: 1, examples: [{ line: 2, value: '00000000000' }] }])
  })
})

describe('shares as fractions', () => {
  test('are a warning where most tracks sum to about 1', async () => {
    const csv = `${HEADER}${isrc(1)},PERFORMANCE,A,0.25\n${isrc(1)},PERFORMANCE,B,0.75\n${isrc(2)},PERFORMANCE,A,1\n`
    expect(await warningsOf(csv)).toMatchObject([
      { name: 'fractions', count: 2, examples: [{ line: 2, value: '1.000000' }, { line: 4 }] },
    ])
  })

  test('one track of a hundred above 1 does not hide the others', async () => {
    const [warning] = await warningsOf(HEADER + rowsOf(...Array.from({ length: 99 }, () => '1.02'), '100'))
    expect(warning).toMatchObject({ name: 'fractions', count: 99 })
  })

  test.each([
    ['few small sums among percentages', ['1', '100', '50', '30'], []],
    ['a sum just above two hundredths more than 1', ['1.020001', '1.020001'], []],
    ['half of the tracks', ['1', '100'], ['fractions']],
  ])('%s', async (_, shares, names) => {
    expect((await warningsOf(HEADER + rowsOf(...shares))).map(({ name }) => name)).toEqual(names)
  })

  test('under exact, where every sum is refused, the report names the cause first', async () => {
    const errors = errorsOf(await stageText(HEADER + rowsOf('1', '1', '0.999999'), EXACT))
    expect(errors.map(({ rule }) => rule)).toEqual([
      'shares-as-fractions',
      'sum-below-100',
      'sum-below-100',
      'sum-below-100',
    ])
    expect(errors[0]?.message).toContain('multiply every share by 100')
  })
})

describe('a column of months', () => {
  const csv = (column: string, ...months: string[]): string =>
    `isrc,right_type,party_id,share,${column}\n${months
      .map((month, index) => `${isrc(index)},PERFORMANCE,KOMCA.1,100,${month}\n`)
      .join('')}`

  test.each(['settlement_month', 'Month', ' PERIOD ', '정산월'])('%s that names another month', async (column) => {
    const warnings = await warningsOf(csv(column, '2026-10', '2026-09', '202609', '2026-09-01'), AT_MOST, {
      month: '2026-10',
    })
    expect(warnings).toMatchObject([
      { name: 'other-month', count: 3, examples: [{ line: 3, value: '2026-09' }, {}, {}] },
    ])
  })

  test.each([
    ['the same month', 'settlement_month', '2026-10', '2026-10'],
    ['no month', 'settlement_month', 'final', '2026-10'],
    ['another column', 'sold', '2026-09', '2026-10'],
    ['no month to compare with', 'settlement_month', '2026-09', undefined],
  ])('with %s says nothing', async (_, column, value, month) => {
    expect(await warningsOf(csv(column, value), AT_MOST, { month })).toEqual([])
  })

  test('names a month in the ways that exports do, and nothing that is none', () => {
    const named = [
      '2026-10',
      '202610',
      '2026/10',
      '2026.1',
      '2026-10-31',
      '20261001',
      '2026년 10월',
      '2026-10-01 00:00',
    ]
    expect(named.map(namedMonth)).toEqual([...Array(3).fill('2026-10'), '2026-01', ...Array(4).fill('2026-10')])
    expect(['10', '2026', '2026-13', '2026-00', 'October', '', '1999-10'].map(namedMonth)).toEqual(
      Array(7).fill(undefined),
    )
  })
})

describe('beside the other months', () => {
  const neighbours = { same: [], before: null, wasOpened: false }
  const before = (rows: number) => ({ ...neighbours, before: { month: '2026-09', job: 3, rows } })
  const names = (warnings: readonly Warning[]) => warnings.map(({ name }) => name)

  test('the rows of another month are named with its job', () => {
    const [warning] = neighbourWarnings(5, { ...neighbours, same: [{ month: '2026-09', job: 3 }] })
    expect(warning).toMatchObject({ name: 'same-as-month', count: 5 })
    expect(warning?.message).toContain('2026-09 (job 3)')
  })

  test.each([
    [1_000, 2_000, []],
    [1_000, 2_001, ['row-count']],
    [1_000, 500, []],
    [1_000, 499, ['row-count']],
    [40, 99, []],
    [40, 100, ['row-count']],
  ])('%i rows where the month before had %i', (rows, last, found) => {
    expect(names(neighbourWarnings(rows, before(last)))).toEqual(found)
  })

  test('a first month has nothing to be compared with', () => {
    expect(neighbourWarnings(1_000_000, neighbours)).toEqual([])
  })
})
