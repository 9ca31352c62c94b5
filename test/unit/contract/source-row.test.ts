import { expect, test } from 'vitest'
import { CANONICAL } from '../../../functions/contract/profile.ts'
import { SOURCE_COLUMNS, type SourceColumn } from '../../../functions/contract/source-refusals.ts'
import { isRefusal, isWhole, readRow } from '../../../functions/contract/source-values.ts'

const GOOD: Readonly<Record<SourceColumn, string>> = {
  ...{ isrc: 'kr-a01-26-00001', right_type: 'performance', party_id: 'P.1', share: '33.3' },
}
const read = (change: Partial<typeof GOOD>) =>
  readRow((column) => ({ ...GOOD, ...change })[column], { sumRule: 'at-most', partyScheme: 'opaque' }, CANONICAL)

test('a row of right values is whole, and each value is as it is kept', () => {
  const row = read({})
  expect(isWhole(row)).toBe(true)
  expect(row).toMatchObject({ isrc: 'KRA012600001', right_type: 'PERFORMANCE', party_id: 'P.1' })
  expect(isRefusal(row.share)).toBe(false)
  expect(isRefusal(row.isrc)).toBe(false)
})

test.each(SOURCE_COLUMNS)('a row whose %s is wrong is not whole, and that value alone is refused', (column) => {
  const row = read({ [column]: '!' })
  expect(isWhole(row)).toBe(false)
  expect(SOURCE_COLUMNS.filter((each) => isRefusal(row[each]))).toEqual([column])
})

test('a row of nothing has every value refused', () => {
  const row = readRow(() => '', { sumRule: 'exact', partyScheme: 'ipi' }, CANONICAL)
  expect(SOURCE_COLUMNS.every((each) => isRefusal(row[each]))).toBe(true)
  expect(isWhole(row)).toBe(false)
})
