import { expect, test } from 'vitest'
import { lineAndColumn, refuse, shortValue } from '../../../functions/contract/source-refusals.ts'

test.each([
  [{ line: 7, column: 3, cell: null }, 'line 7, column 3'],
  [{ line: 7, column: null, cell: null }, 'line 7'],
  [{ line: null, column: 3, cell: null }, 'column 3'],
  [{ line: null, column: null, cell: null }, ''],
  [{ line: 7, column: 3, cell: 'C7' }, 'cell C7'],
  [{ line: 7, column: 3, cell: null, part: 'a.csv' }, 'a.csv, line 7, column 3'],
  [{ line: 7, column: 3, cell: 'C7', part: 'a.xlsx' }, 'a.xlsx, cell C7'],
  [{ line: null, column: null, cell: null, part: 'a.csv' }, 'a.csv'],
])('the place %o is told as "%s"', (place, text) => {
  expect(lineAndColumn(place)).toBe(text)
})

test('a refused value is told whole up to 60 characters, and never cut inside a character', () => {
  const whole = 'x'.repeat(60)
  expect(shortValue(whole)).toBe(whole)
  expect(shortValue(`${whole}y`)).toBe(`${'x'.repeat(59)}…`)
  // A character of two units lies across the cut.
  expect(shortValue(`${'x'.repeat(59)}😀😀`)).toBe(`${'x'.repeat(59)}…`)
  expect(refuse('share-percent-sign', 'share', '1%').message).toMatch(/^share "1%" has a percent sign;/)
  expect(refuse('empty-file', 'The file').message).toBe('The file has no row of shares')
})
