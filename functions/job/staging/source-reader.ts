import { explained } from '../../contract/foreign-text.ts'
import { CANONICAL, headerName, type Profile } from '../../contract/profile.ts'
import {
  type Refusal,
  refuse,
  SOURCE_COLUMNS,
  type SourceColumn,
  type SourceRules,
} from '../../contract/source-refusals.ts'
import { isRefusal, isWhole, type RowValues, readRow } from '../../contract/source-values.ts'
import { cellRefusal, formOf } from './cell-refusal.ts'
import { type Header, HeaderSearch } from './header.ts'
import { EndOfReading } from './record-reader.ts'
import type { CellKind } from './sheet/cell-value.ts'
import type { SourceErrors } from './source-errors.ts'
import type { SourceWarnings } from './source-warnings.ts'

/** Where rows go that every rule of a row accepts, with the line on which each begins. */
export type RowSink = {
  add(row: RowValues, line: number): void
  /** The column that has more different values than a file may have; nothing may be added then. */
  readonly overfull: 'right_type' | 'party_id' | undefined
}

type Record = { readonly fields: string[]; readonly line: number; readonly kinds: readonly CellKind[] | undefined }

/**
 * Turns records into rows of the table or errors, as the profile says: what comes before the header is left out, then
 * the header, the rows, and what comes after them.
 */
export class SourceReader {
  /** Records after the header, refused ones included, without those after the data. */
  records = 0
  #header: Header | undefined
  /** The newest records, which may turn out to be the last ones of the file: after the data. */
  readonly #held: Record[] = []
  readonly #search: HeaderSearch
  readonly #profile: Profile
  readonly #rules: SourceRules
  readonly #rowsMax: number
  readonly #rows: RowSink
  readonly #errors: SourceErrors
  readonly #warnings: SourceWarnings
  /** A column that names the month of each row. */
  #month: { readonly place: number; readonly name: string } | undefined

  constructor(
    rules: SourceRules,
    rowsMax: number,
    rows: RowSink,
    errors: SourceErrors,
    warnings: SourceWarnings,
    profile: Profile = CANONICAL,
  ) {
    this.#rules = rules
    this.#rowsMax = rowsMax
    this.#rows = rows
    this.#errors = errors
    this.#warnings = warnings
    this.#profile = profile
    this.#search = new HeaderSearch(profile, errors)
  }

  /** The names of the columns that are not part of a file; they are read and dropped. */
  get ignoredColumns(): readonly string[] {
    return this.#header?.ignored ?? []
  }

  get hasHeader(): boolean {
    return this.#header !== undefined
  }

  readonly onRecord = (fields: string[], line: number, kinds?: readonly CellKind[]): void => {
    const header = this.#header
    if (header === undefined) {
      this.#header = this.#search.look(fields, line)
      if (this.#header !== undefined) this.#month = this.#warnings.monthColumn(fields.map(headerName))
      return
    }
    const { rowsAfterData } = this.#profile
    if (rowsAfterData === 0) {
      this.#take(fields, line, kinds, header)
      return
    }
    this.#held.push({ fields, line, kinds })
    if (this.#held.length <= rowsAfterData) return
    const [oldest] = this.#held.splice(0, 1)
    if (oldest !== undefined) this.#take(oldest.fields, oldest.line, oldest.kinds, header)
  }

  /** To be called once the file has been read to its end. */
  end(): void {
    const header = this.#header
    if (header === undefined) {
      this.#search.end()
      return
    }
    for (const { fields, line } of this.#held) this.#refuseData(fields, line, header)
  }

  #take(fields: readonly string[], line: number, kinds: readonly CellKind[] | undefined, header: Header): void {
    this.records += 1
    if (this.records > this.#rowsMax) {
      this.#errors.add(refuse('file-rows', 'the file'), { line }, '')
      throw new EndOfReading()
    }
    if (fields.length === header.length || this.#fits(fields, header)) this.#readRow(fields, line, kinds, header)
    else this.#refuseWidth(fields, line, header.length)
  }

  /** A sheet has no width: blank cells at a row's end are not stored. */
  #fits(fields: readonly string[], header: Header): boolean {
    return this.#profile.format.kind === 'xlsx' && fields.slice(header.length).every((field) => field.trim() === '')
  }

  #refuseWidth(fields: readonly string[], line: number, expected: number): void {
    const { rule, message } = refuse('column-count', 'the row')
    const counts = `${fields.length} instead of ${expected}`
    this.#errors.add({ rule, message: `${message} (${counts})` }, { line }, fields.join(','))
  }

  #valueOf(fields: readonly string[], column: SourceColumn, { places, constantRightType }: Header): string {
    if (column === 'right_type' && constantRightType !== undefined) return constantRightType
    return fields[places[column]] ?? ''
  }

  #readRow(fields: readonly string[], line: number, kinds: readonly CellKind[] | undefined, header: Header): void {
    const { places } = header
    const form = kinds === undefined ? this.#profile : formOf(kinds[places.share], this.#profile)
    const read = readRow((column) => this.#valueOf(fields, column, header), this.#rules, form)
    const isStored = kinds === undefined || this.#storesValues(fields, line, kinds, header)
    if (isWhole(read)) {
      if (!isStored) return
      this.#rows.add(read, line)
      if (this.#month !== undefined) this.#warnings.seeMonth(fields[this.#month.place] ?? '', line, this.#month.name)
      if (this.#rows.overfull !== undefined) this.#refuseDistinct(this.#rows.overfull, line, places)
      return
    }
    if (fields.every((field) => field.trim() === '')) {
      this.#errors.add(refuse('blank-row', 'the row'), { line }, fields.join(','))
      return
    }
    for (const field of SOURCE_COLUMNS) {
      const refusal = read[field]
      if (isRefusal(refusal) && cellRefusal(field, fields, places[field], kinds, this.#profile) === undefined)
        this.#refuseValue(refusal, field, fields, line, header)
    }
  }

  #refuseValue(refusal: Refusal, field: SourceColumn, fields: readonly string[], line: number, header: Header): void {
    const value = fields[header.places[field]] ?? ''
    this.#errors.add(explained(refusal, field, value), { line, column: header.places[field] + 1, field }, value)
  }

  /** Whether each of the columns has a cell that holds what its writer wrote; the others are refused here. */
  #storesValues(fields: readonly string[], line: number, kinds: readonly CellKind[], { places }: Header): boolean {
    let stored = true
    for (const field of SOURCE_COLUMNS) {
      const refusal = cellRefusal(field, fields, places[field], kinds, this.#profile)
      if (refusal === undefined) continue
      stored = false
      this.#errors.add(refusal, { line, column: places[field] + 1, field }, fields[places[field]] ?? '')
    }
    return stored
  }

  /** A row after the data that could be a row of shares: then the file lacks those rows, and none may be lost. */
  #refuseData(fields: readonly string[], line: number, header: Header): void {
    const read = readRow((column) => this.#valueOf(fields, column, header), this.#rules, this.#profile)
    const names = fields[header.places.isrc]?.trim() !== '' && fields[header.places.party_id]?.trim() !== ''
    if (isRefusal(read.isrc) && (!names || isRefusal(read.party_id) || isRefusal(read.share))) return
    const { rule, message } = refuse('rows-after-data', 'the row')
    const expected = `the last ${this.#profile.rowsAfterData} after the header are totals, say, in each file`
    this.#errors.add({ rule, message: `${message} (${expected})` }, { line }, fields.join(','))
  }

  #refuseDistinct(field: SourceColumn, line: number, places: Header['places']): never {
    this.#errors.add(refuse('distinct-values', 'the column', field), { line, column: places[field] + 1, field }, '')
    throw new EndOfReading()
  }
}
