import { afterEach, describe, expect, test, vi } from 'vitest'
import { refuse } from '../../../../functions/contract/source-refusals.ts'
import { SourceErrors } from '../../../../functions/job/staging/source-errors.ts'

const REFUSAL = refuse('share-range', 'share', '0')
const END = refuse('gzip-truncated', 'The file')

afterEach(() => vi.restoreAllMocks())

const linesOf = (errors: SourceErrors) => errors.rejection().errors.map(({ line }) => line)

describe('the errors of a file', () => {
  test('are the first by line and column, in whatever order they come', () => {
    const errors = new SourceErrors(3, 1_000)
    for (let line = 50; line > 0; line -= 1) errors.add(REFUSAL, { line, column: 2 }, '0')
    errors.add(REFUSAL, { line: 1, column: 1 }, '0')
    expect(errors.rejection()).toMatchObject({ total: 51, stoppedAtLine: null })
    expect(errors.rejection().errors.map(({ line, column, cell }) => [line, column, cell])).toEqual([
      [1, 1, null],
      [1, 2, null],
      [2, 2, null],
    ])
  })

  test('are as many in memory as twice the report has, and are sorted once for as many as it has', () => {
    const sorted: number[] = []
    const own = Array.prototype.toSorted
    vi.spyOn(Array.prototype, 'toSorted').mockImplementation(function (this: unknown[], compare) {
      sorted.push(this.length)
      return own.call(this, compare)
    })
    const errors = new SourceErrors(10, 10_000)
    for (let line = 1; line <= 1_000; line += 1) errors.add(REFUSAL, { line }, '0')
    expect(Math.max(...sorted)).toBe(20)
    expect(sorted.length).toBeLessThanOrEqual(100)
    expect(linesOf(errors)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test('are full with the last one that is counted, not before', () => {
    const errors = new SourceErrors(2, 3)
    for (const isFull of [false, false, true]) {
      errors.add(REFUSAL, { line: 1 }, '0')
      expect(errors.isFull).toBe(isFull)
    }
  })

  test('have the reason why the reading ended last, and it takes the place of the last one that there is room for', () => {
    const errors = new SourceErrors(3, 1_000)
    errors.add(REFUSAL, { line: 9 }, '0')
    expect(errors.isCutShort).toBe(false)
    errors.endAt(END, 2)
    expect(errors.isCutShort).toBe(true)
    expect(linesOf(errors)).toEqual([9, 2])
    for (const line of [3, 4, 5]) errors.add(REFUSAL, { line }, '0')
    expect(linesOf(errors)).toEqual([3, 4, 2])
    expect(errors.rejection().total).toBe(5)
    const stopped = new SourceErrors(3, 1_000)
    stopped.stoppedAtLine = 4
    expect(stopped.isCutShort).toBe(true)
  })

  test.each([
    [1, 'A7'],
    [26, 'Z7'],
    [27, 'AA7'],
    [52, 'AZ7'],
    [702, 'ZZ7'],
    [703, 'AAA7'],
    [16_384, 'XFD7'],
  ])('of a sheet are in cells: column %i is in %s', (column, cell) => {
    const errors = new SourceErrors(3, 1_000)
    errors.isSheet = true
    errors.add(REFUSAL, { line: 7, column }, '0')
    errors.add(REFUSAL, { line: 8 }, '0')
    errors.add(REFUSAL, { line: null, column: 2 }, '0')
    expect(errors.rejection().errors.map((error) => error.cell)).toEqual([null, cell, null])
  })
})
