import { csvCell } from '../../../contract/csv-cell.ts'
import type { FileReport } from '../../../contract/file-report.ts'
import type { WarningExample } from '../../../contract/warnings.ts'
import { koreanOf } from './korean.ts'

const COLUMNS = [
  'kind',
  'name',
  'part',
  'line',
  'column',
  'cell',
  'field',
  'value',
  'count',
  'message',
  'message_ko',
] as const
type Line = Readonly<Record<(typeof COLUMNS)[number], string | number | null>>

/** A byte order mark, by which spreadsheets know UTF-8, and lines that end as RFC 4180 has it. */
const written = (lines: readonly Line[]): string =>
  `\ufeff${[COLUMNS.join(','), ...lines.map((line) => COLUMNS.map((column) => csvCell(line[column])).join(','))].join('\r\n')}\r\n`

const NO_EXAMPLE: WarningExample = { line: null, field: null, value: '' }

/** Each row that was left out. */
const heldLines = (held: FileReport['held']): Line[] =>
  (held?.lines ?? []).map((line) => ({
    ...{
      kind: 'held',
      name: 'sum-above-100',
      part: null,
      line: null,
      column: null,
      cell: null,
      field: null,
      count: null,
    },
    value: line.replaceAll('\t', ' '),
    message: 'The shares of this track exceed 100: it was left out whole and is not registered',
    message_ko: '이 곡의 지분 합이 100을 넘어 곡 전체를 제외했으며 등록되지 않았습니다.',
  }))

/** A report for a spreadsheet: one line for each error that was kept, and for each example of a warning. */
export const csvReport = ({ errors, total, warnings, held }: FileReport): string => {
  const none = { part: null, line: null, column: null, cell: null, field: null, value: null }
  const more = total - errors.length
  return written([
    ...errors.map((error): Line => {
      const { rule: name, part = null, line, column, cell, field, value, message } = error
      return {
        kind: 'error',
        name,
        part,
        line,
        column,
        cell,
        field,
        value,
        count: null,
        message,
        message_ko: koreanOf(name),
      }
    }),
    ...(more > 0
      ? [
          {
            ...{ kind: 'error', name: 'more', ...none, count: more },
            message: `${more} more errors are not listed`,
            message_ko: `오류 ${more}건이 더 있습니다`,
          },
        ]
      : []),
    ...warnings.flatMap(({ name, count, message, examples }): Line[] => {
      const said = { kind: 'warning', name, message: `The file ${message}`, message_ko: koreanOf(name) }
      const [first = NO_EXAMPLE, ...others] = examples
      const place = (example: WarningExample) => ({
        part: example.part ?? null,
        line: example.line,
        column: null,
        cell: null,
        field: example.field,
        value: example.value,
      })
      return [
        { ...said, ...place(first), count },
        ...others.map((other) => ({ ...said, ...place(other), count: null })),
      ]
    }),
    ...heldLines(held),
  ])
}
