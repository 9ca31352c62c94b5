import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FileReport } from '../../../../functions/contract/file-report.ts'
import { reportText } from '../../../../functions/job/staging/report/report-text.ts'

/* A report goes back to strangers and is opened in a spreadsheet or a browser: nothing of a file may act there. */
const reportOf = (value: string, change: Partial<FileReport> = {}): FileReport => ({
  version: 1,
  ...{ distributor: 'ARIA', month: '2026-10', key: `incoming/${value}`, etag: '"1"', execution: 'run' },
  ...{ compressed: false, encoding: 'utf-8', records: 3, ignoredColumns: [value] },
  total: 1,
  errors: [
    { line: 2, column: 4, cell: null, field: value, value, rule: 'share-format', message: `share ${value} is wrong` },
  ],
  stoppedAtLine: null,
  warnings: [
    { name: 'number-ids', count: 2, message: `has ${value}`, examples: [{ line: 3, field: 'party_id', value }] },
  ],
  ...change,
})

const cellsOf = (csv: string): string[][] => parse(csv, { bom: true })

const HOSTILE = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '\r=1', '\n@a', '|x', '%y', '\u00a0=1', '\ufeff=1']

describe('a report as CSV', () => {
  test.each(HOSTILE)('%j is a text and no formula in any cell', (value) => {
    for (const row of cellsOf(reportText('csv', reportOf(value))))
      for (const cell of row) expect(cell).not.toMatch(/^[\s\ufeff]*[=+\-@|%]/)
  })

  test('no value of a file becomes a formula, a further cell or a further line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (value) => {
        const rows = cellsOf(reportText('csv', reportOf(value)))
        expect(rows.map((row) => row.length)).toEqual([11, 11, 11])
        for (const cell of rows.flat()) expect(cell).not.toMatch(/^[\s\ufeff]*[=+\-@|%]/)
      }),
      { numRuns: 2_000, seed: 20_261_130 },
    )
  })

  test('has each error and warning with its line, in both languages, and says how many more there are', () => {
    const csv = reportText('csv', reportOf('33.3%', { total: 5 }))
    expect(csv.startsWith('\ufeffkind,name,part,line')).toBe(true)
    const [, error, more, warning] = cellsOf(csv)
    expect(error?.slice(0, 5)).toEqual(['error', 'share-format', '', '2', '4'])
    expect(error?.[10]).toContain('백분율')
    expect(more?.slice(0, 2)).toEqual(['error', 'more'])
    expect(more?.[8]).toBe('4')
    expect(warning?.slice(0, 4)).toEqual(['warning', 'number-ids', '', '3'])
    expect(warning?.[8]).toBe('2')
  })
})

describe('a report as HTML', () => {
  test.each(['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "'--><b>", '&lt;', '</td>'])(
    '%s is text',
    (value) => {
      const page = reportText('html', reportOf(value))
      expect(page).not.toMatch(/<script|<img|<b>/)
      const escaped = value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
      expect(page).toContain(escaped.replaceAll('"', '&quot;').replaceAll("'", '&#39;'))
    },
  )

  test('its only markup is its own, whatever a file holds', () => {
    const tagsOf = (page: string): string[] => page.match(/<[^>]*>/g) ?? []
    const own = tagsOf(reportText('html', reportOf('x')))
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (value) => {
        expect(tagsOf(reportText('html', reportOf(value)))).toEqual(own)
      }),
      { numRuns: 1_000, seed: 20_261_130 },
    )
  })

  test('loads and runs nothing, and speaks both languages', () => {
    const page = reportText('html', reportOf('x'))
    expect(page).toContain(`default-src 'none'`)
    expect(page).toContain('Please correct it')
    expect(page).toContain('다시 보내 주십시오')
    expect(reportText('html', reportOf('x', { total: 0, errors: [] }))).toContain('see whether this file is right')
  })
})

test('a report as JSON is the report', () => {
  const report = reportOf('x')
  expect(JSON.parse(reportText('json', report))).toEqual(report)
})
