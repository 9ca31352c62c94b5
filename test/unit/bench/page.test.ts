import { describe, expect, test } from 'vitest'
import { chartBlock } from '../../../bench/harness/charts.ts'
import { page } from '../../../bench/harness/page.ts'
import type { Result } from '../../../bench/harness/result.ts'

const result: Result = {
  section: 'peers',
  title: 'The same job',
  about: 'Measured.',
  ranAt: '2026-11-29T18:05:59.000Z',
  seconds: 61.4,
  machine: { machine: '2 x a processor' },
  settings: { sync_binlog: '= 1' },
  tables: [{ title: 'Deleting', head: ['', 'rows/s'], rows: [['a|b', '12,000']] }],
  charts: [{ title: 'Deleting', unit: 'rows/s', labels: ['a', 'b'], values: [12_000, 300_000] }],
  verdicts: [
    { target: 'faster than every peer', measured: '12,000', met: true },
    { target: 'flat', measured: '0.5', met: false },
  ],
  notes: ['One was left out.'],
}

describe('the page of benchmarks', () => {
  const text = page([result, { ...result, section: 'lock', title: 'The lock', verdicts: [] }])

  test('counts the targets and says of each whether it was met', () => {
    expect(text).toContain('Of 2 targets 1 are met and 1 missed.')
    expect(text).toContain('| faster than every peer | 12,000 | met |')
    expect(text).toContain('| flat | 0.5 | **missed** |')
  })

  test('has a section per result, in order, each with its command, date, machine and settings', () => {
    expect(text.indexOf('## The same job')).toBeLessThan(text.indexOf('## The lock'))
    expect(text).toContain(
      '<sub>`npm run bench -- --only peers`, 2026-11-29 18:05 UTC, 61 s. machine 2 x a processor. sync_binlog = 1.</sub>',
    )
    expect(text).toContain('- One was left out.')
  })

  test('keeps a bar within its cell of a table', () => {
    expect(text).toContain('|  | rows/s |\n| --- | ---: |\n| a\\|b | 12,000 |')
  })

  test('refuses a row that does not fit its table', () => {
    const tables = [{ title: 'Deleting', head: ['', 'rows/s'], rows: [['a']] }]
    expect(() => page([{ ...result, tables }])).toThrow('A row of the table Deleting has 1 cells')
  })
})

describe('a chart', () => {
  test('is a Mermaid bar chart whose axis reaches beyond its longest bar', () => {
    expect(chartBlock(result.charts[0] as Result['charts'][number])).toBe(
      [
        '```mermaid',
        'xychart-beta',
        '  title "Deleting"',
        '  x-axis ["a", "b"]',
        '  y-axis "rows/s" 0 --> 330000',
        '  bar [12000, 300000]',
        '```',
      ].join('\n'),
    )
  })

  test('lies on its side where a name is long', () => {
    const block = chartBlock({ title: 'x', unit: 'ms', labels: ['DELETE … LIMIT 10,000'], values: [2] })
    expect(block).toContain('xychart-beta horizontal\n')
  })

  test('leaves out what was not measured', () => {
    const block = chartBlock({ title: 'x', unit: 'ms', labels: ['a', 'b'], values: [Number.NaN, 2] })
    expect(block).toContain('x-axis ["b"]')
    expect(block).toContain('bar [2]')
  })

  test('refuses labels that do not fit its values', () => {
    expect(() => chartBlock({ title: 'x', unit: 'ms', labels: ['a'], values: [1, 2] })).toThrow('1 labels')
  })
})
