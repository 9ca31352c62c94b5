import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SliceLine } from '../../../../functions/contract/reports.ts'
import { squaresOf } from '../../../../operator/console/pages/chunk-map.ts'
import { overviewRows } from '../../../../operator/console/parts/overview-rows.ts'
import { en } from '../../../../operator/console/words/en.ts'
import { ko } from '../../../../operator/console/words/ko.ts'

/* The console's own small parts, without a browser: what they compute from what they are given. */

const distributor = (code: string, active = true) =>
  ({ id: 1, code, name: code, active, sumRule: 'at-most', partyScheme: 'opaque' }) as const

const slice = (code: string, month: string, status: SliceLine['status'] = 'settled'): SliceLine => ({
  distributor: code,
  month,
  job: 1,
  state: status === 'settled' ? 'REGISTERED' : 'DELETING',
  status,
  fence: 1,
  execution: 'arn',
  requestedBy: 'kim',
  rows: 1,
  openedAt: '2026-11-01T00:00:00.000Z',
  registeredAt: null,
  haltedAt: null,
  haltError: null,
})

test('late is an active distributor without a job in a month that another has settled, from its first month on', () => {
  const months = ['2026-11', '2026-10', '2026-09', '2026-08']
  const lateOf = (slices: SliceLine[], ...codes: string[]) =>
    Object.fromEntries(
      overviewRows([...codes.map((code) => distributor(code)), distributor('GONE', false)], slices, months).map(
        (row) => [row.distributor.code, months.filter((_, index) => row.cells[index] === 'late')],
      ),
    )
  const others = [slice('A', '2026-10'), slice('A', '2026-09'), slice('A', '2026-08')]
  expect(lateOf([...others, slice('B', '2026-09')], 'A', 'B', 'NEW')).toEqual({
    A: [],
    B: ['2026-10'],
    NEW: ['2026-10'],
  })
  expect(lateOf([slice('A', '2026-10', 'halted'), slice('B', '2026-09')], 'A', 'B')).toEqual({ A: [], B: [] })
  expect(lateOf([...others, slice('GONE', '2026-08')], 'A')).toEqual({ A: [], GONE: [] })
})

test('a map of many chunks has at most 400 squares, full only where every chunk of it is marked', () => {
  expect(squaresOf('##.')).toEqual({ quarters: [4, 4, 0], chunksEach: 1 })
  fc.assert(
    fc.property(fc.array(fc.constantFrom('#', '.'), { minLength: 1, maxLength: 3_000 }), (chunks) => {
      const { quarters, chunksEach } = squaresOf(chunks.join(''))
      expect(quarters.length).toBeLessThanOrEqual(400)
      expect(quarters.length).toBe(Math.ceil(chunks.length / chunksEach))
      quarters.forEach((quarter, index) => {
        const own = chunks.slice(index * chunksEach, (index + 1) * chunksEach)
        expect(quarter === 4).toBe(own.every((chunk) => chunk === '#'))
        expect(quarter === 0).toBe(own.every((chunk) => chunk === '.'))
      })
    }),
  )
})

const saying = (words: object, key: string): string => {
  const word: unknown = (words as Record<string, unknown>)[key]
  const given = key === 'warningSentence' ? { name: 'row-count', message: 'has few rows' } : 200
  return typeof word === 'function' ? String(word(given, '2')) : String(word)
}

test('every label is Korean in Korean and English in English, and both say what they are given', () => {
  const alike = ['monthsFromTo']
  for (const key of Object.keys(en)) {
    const [english, korean] = [saying(en, key), saying(ko, key)]
    expect(english, key).not.toMatch(/\p{Script=Hangul}/u)
    if (!alike.includes(key)) expect(korean, key).toMatch(/\p{Script=Hangul}/u)
    if (key !== 'duration') expect(korean.includes('200'), key).toBe(english.includes('200'))
  }
  expect([8, 200, 3_900].map(ko.duration)).toEqual(['8초', '3분 20초', '1시간 05분'])
})
