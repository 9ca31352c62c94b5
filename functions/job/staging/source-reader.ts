import {
  refuse,
  SOURCE_COLUMNS,
  type SourceColumn,
  type SourceRule,
  type SourceRules,
} from '../../contract/source-refusals.ts'
import { isRefusal, isWhole, readRow } from '../../contract/source-values.ts'
import { EndOfReading } from './csv-records.ts'
import type { RowTable } from './row-table.ts'
import type { SourceErrors } from './source-errors.ts'

/** The header: where each column is, counted from 0. */
type Header = { readonly length: number; readonly places: Record<SourceColumn, number>; readonly ignored: string[] }

/** Turns records into rows of the table or errors. The first record is the header. */
export class SourceReader {
  /** Records after the header, refused ones included. */
  records = 0
  #header: Header | undefined
  readonly #rules: SourceRules
  readonly #rowsMax: number
  readonly #table: RowTable
  readonly #errors: SourceErrors

  constructor(rules: SourceRules, rowsMax: number, table: RowTable, errors: SourceErrors) {
    this.#rules = rules
    this.#rowsMax = rowsMax
    this.#table = table
    this.#errors = errors
  }

  /** The names of the columns that are not part of a file; they are read and dropped. */
  get ignoredColumns(): readonly string[] {
    return this.#header?.ignored ?? []
  }

  readonly onRecord = (fields: string[], line: number): void => {
    if (this.#header === undefined) {
      this.#header = this.#readHeader(fields, line)
      return
    }
    this.records += 1
    if (this.records > this.#rowsMax) {
      this.#errors.add(refuse('file-rows', 'the file'), { line }, '')
      throw new EndOfReading()
    }
    if (fields.length === this.#header.length) this.#readRow(fields, line, this.#header)
    else this.#refuseWidth(fields, line, this.#header.length)
  }

  #refuseWidth(fields: readonly string[], line: number, expected: number): void {
    const { rule, message } = refuse('column-count', 'the row')
    const counts = `${fields.length} instead of ${expected}`
    this.#errors.add({ rule, message: `${message} (${counts})` }, { line }, fields.join(','))
  }

  #readHeader(fields: readonly string[], line: number): Header {
    const names = fields.map((field) => field.trim().toLowerCase())
    const refuseColumn = (rule: SourceRule, name: string, index: number): void => {
      const column = index < 0 ? null : index + 1
      const found = index < 0 ? fields.join(',') : (fields[index] ?? '')
      this.#errors.add(refuse(rule, 'the column', name), { line, column, field: name }, found)
    }
    for (const name of SOURCE_COLUMNS) if (!names.includes(name)) refuseColumn('header-missing', name, -1)
    names.forEach((name, index) => {
      if (name !== '' && names.indexOf(name) < index) refuseColumn('header-duplicate', name, index)
    })
    // Without its columns no row can be judged, and each would be refused for the header's fault.
    if (this.#errors.total > 0) throw new EndOfReading()
    const places = Object.fromEntries(SOURCE_COLUMNS.map((name) => [name, names.indexOf(name)]))
    const ignored = fields.filter((_, index) => !SOURCE_COLUMNS.some((name) => name === names[index]))
    return { length: fields.length, places: places as Record<SourceColumn, number>, ignored }
  }

  #readRow(fields: readonly string[], line: number, header: Header): void {
    const { places } = header
    const read = readRow((column) => fields[places[column]] ?? '', this.#rules)
    if (isWhole(read)) {
      this.#table.add(read, line)
      if (this.#table.overfull !== undefined) this.#refuseDistinct(this.#table.overfull, line, places)
      return
    }
    if (fields.every((field) => field.trim() === '')) {
      this.#errors.add(refuse('blank-row', 'the row'), { line }, fields.join(','))
      return
    }
    for (const field of SOURCE_COLUMNS) {
      const refusal = read[field]
      if (isRefusal(refusal))
        this.#errors.add(refusal, { line, column: places[field] + 1, field }, fields[places[field]] ?? '')
    }
  }

  #refuseDistinct(field: SourceColumn, line: number, places: Record<SourceColumn, number>): never {
    this.#errors.add(refuse('distinct-values', 'the column', field), { line, column: places[field] + 1, field }, '')
    throw new EndOfReading()
  }
}
