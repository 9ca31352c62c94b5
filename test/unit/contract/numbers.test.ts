import { expect, test } from 'vitest'
import { count, counted } from '../../../functions/contract/numbers.ts'

test('numbers are grouped in threes, and one of a thing is not many', () => {
  expect([0, 999, 1_600, 12_345_678].map(count)).toEqual(['0', '999', '1,600', '12,345,678'])
  expect(counted(1, 'row')).toBe('1 row')
  expect(counted(1_600, 'row')).toBe('1,600 rows')
  expect(counted(2, 'entry', 'entries')).toBe('2 entries')
})
