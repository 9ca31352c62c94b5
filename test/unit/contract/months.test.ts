import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addMonths, isMonthRange, monthAt, monthsFrom } from '../../../functions/contract/months.ts'
import { seoulTime } from '../../../functions/contract/seoul-time.ts'
import { SLICE_MONTHS_MAX } from '../../../functions/contract/support-limits.ts'

const monthOfIndex = (index: number): string =>
  `${2000 + Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, '0')}`
const index = fc.nat(1_199)

describe('months', () => {
  test('are counted over the ends of years, both ways', () => {
    fc.assert(
      fc.property(index, index, (from, to) => {
        expect(addMonths(monthOfIndex(from), to - from)).toBe(monthOfIndex(to))
      }),
    )
  })

  test('from one to another are all between, both included', () => {
    expect(monthsFrom('2026-11', '2027-02')).toEqual(['2026-11', '2026-12', '2027-01', '2027-02'])
    expect(monthsFrom('2026-11', '2026-11')).toEqual(['2026-11'])
    expect(monthsFrom('2026-11', '2026-01')).toEqual([])
  })

  test('are a range where it ends where it begins or later, and within its limit', () => {
    fc.assert(
      fc.property(index, index, (from, to) => {
        const isRange = to >= from && to < from + SLICE_MONTHS_MAX
        expect(isMonthRange(monthOfIndex(from), monthOfIndex(to))).toBe(isRange)
      }),
    )
  })
})

describe('the month of a moment', () => {
  test('is that of Seoul: 1 March 00:10 there is 28 February in UTC', () => {
    expect(monthAt('2026-02-28T15:10:00Z')).toBe('2026-03')
    expect(monthAt(new Date('2026-02-28T14:59:59Z'))).toBe('2026-02')
    expect(seoulTime('2026-02-28T15:10:00Z')).toBe('2026-03-01 00:10:00')
  })

  test.each([
    ['2026-02-28T15:10:00Z', 1, '2026-02'],
    ['2026-11-09T17:00:00Z', 1, '2026-10'],
    ['2026-01-09T17:00:00Z', 1, '2025-12'],
    ['2025-12-31T15:00:00Z', 0, '2026-01'],
    ['2026-03-09T17:00:00Z', 12, '2025-03'],
  ])('%s, %i months back, is %s', (scheduledAt, monthsBack, month) => {
    expect(monthAt(scheduledAt, monthsBack)).toBe(month)
  })
})
