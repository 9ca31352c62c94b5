import { foreignText, withoutForeign } from '../../contract/foreign-text.ts'
import { delimiterOf, headerName, type Profile } from '../../contract/profile.ts'
import { type Refusal, refuse, SOURCE_COLUMNS, type SourceColumn, shortValue } from '../../contract/source-refusals.ts'
import { quoted } from '../../contract/visible.ts'
import { EndOfReading } from './record-reader.ts'
import type { SourceErrors } from './source-errors.ts'

/** Where each column is, counted from 0; a column that is the same in every row is nowhere and has its text here. */
export type Header = {
  readonly length: number
  readonly places: Readonly<Record<SourceColumn, number>>
  readonly constantRightType: string | undefined
  readonly ignored: readonly string[]
}

type HeaderFault = {
  readonly refusal: Refusal
  /** The field that is at fault, counted from 0; none where one is missing. */
  readonly index?: number
  readonly name: string
}

/** A record read as the header. Where it has faults it is none, and `found` says how much of one it is. */
type HeaderRead = { readonly header: Header; readonly faults: readonly HeaderFault[]; readonly found: number }

type Names = Readonly<Record<SourceColumn, readonly string[]>>

/** Header names as a profile has them, made once for a file. */
type HeaderNames = {
  /** As they are written in the profile, for people. */
  readonly written: Names
  readonly compared: Names
  readonly constantRightType: string | undefined
  /** Undefined: any further column may be there. */
  readonly ignored: ReadonlySet<string> | undefined
}

const headerNames = ({ columns, ignoredColumns }: Profile): HeaderNames => {
  const { right_type: rightType, ...others } = columns
  const hasColumn = Array.isArray(rightType)
  const written: Names = { ...others, right_type: hasColumn ? rightType : [] }
  const compared: Names = {
    isrc: written.isrc.map(headerName),
    right_type: written.right_type.map(headerName),
    party_id: written.party_id.map(headerName),
    share: written.share.map(headerName),
  }
  return {
    written,
    compared,
    constantRightType: hasColumn ? undefined : rightType.constant,
    ignored: ignoredColumns === 'any' ? undefined : new Set(ignoredColumns.map(headerName)),
  }
}

/** `isrc` as itself, other names as `isrc ("트랙", "ISRC코드")`. */
const called = (column: SourceColumn, written: readonly string[]): string =>
  written.length === 1 && written[0] === column
    ? quoted(column)
    : `${column} (${written.map((name) => quoted(shortValue(name))).join(' or ')})`

/** What is wrong with a field of the header, if anything is. */
const faultOf = (
  column: SourceColumn | undefined,
  name: string,
  isRepeated: boolean,
  { constantRightType, ignored }: HeaderNames,
): HeaderFault['refusal'] | undefined => {
  if (name === '' || (column === undefined && ignored?.has(name))) return undefined
  const what = `the column ${quoted(shortValue(column ?? name))}`
  if (isRepeated) return refuse('header-duplicate', what)
  if (column !== undefined) return undefined
  if (constantRightType !== undefined && name === 'right_type') return refuse('header-constant', what)
  return ignored === undefined ? undefined : refuse('header-unknown', what)
}

/** Reads a record as the header. */
const readHeader = (fields: readonly string[], names: HeaderNames): HeaderRead => {
  const { written, compared, constantRightType } = names
  const found = fields.map(headerName)
  const columns = found.map((name) => SOURCE_COLUMNS.find((column) => compared[column].includes(name)))
  const places = Object.fromEntries(SOURCE_COLUMNS.map((column) => [column, columns.indexOf(column)]))
  const needed = SOURCE_COLUMNS.filter((column) => compared[column].length > 0)
  const missing = needed.filter((column) => !columns.includes(column))
  const faults: HeaderFault[] = missing.map((name) => {
    // A name that would be right but for what cannot be seen in it, or for the formula around it.
    const index = fields.findIndex((field) => compared[name].includes(headerName(withoutForeign(field))))
    const foreign = index < 0 ? undefined : foreignText('the column', fields[index] ?? '')
    if (foreign !== undefined) return { refusal: foreign, index, name }
    return { refusal: refuse('header-missing', `the column ${called(name, written[name])}`), name }
  })
  columns.forEach((column, index) => {
    const name = found[index] ?? ''
    const first = column === undefined ? found.indexOf(name) : columns.indexOf(column)
    const refusal = faultOf(column, name, first < index, names)
    if (refusal !== undefined) faults.push({ refusal, index, name: column ?? name })
  })
  return {
    header: {
      length: fields.length,
      places: places as Header['places'],
      constantRightType,
      ignored: fields.filter((_, index) => columns[index] === undefined),
    },
    faults,
    found: needed.length - missing.length,
  }
}

/** Signs that separate values in files of other programs, and what people call several of them. */
const SEPARATORS: Readonly<Record<string, string>> = { ',': 'commas', '\t': 'tabs', ';': 'semicolons', '|': 'pipes' }

const separatorName = (sign: string): string => SEPARATORS[sign] ?? quoted(sign)

/** The sign that separates the values of a record which was read as one value, if one does. */
const seenSeparator = (record: string): string | undefined => {
  const counts = Object.keys(SEPARATORS).map((sign) => [sign, record.split(sign).length - 1] as const)
  const [most] = counts.toSorted(([, a], [, b]) => b - a)
  return most !== undefined && most[1] >= SOURCE_COLUMNS.length - 2 ? most[0] : undefined
}

/** Looks for the header among the first records: the first that has every column is it. */
export class HeaderSearch {
  #seen = 0
  /** The record that has the most columns of a header, for the refusal. */
  #best: { readonly read: HeaderRead; readonly fields: readonly string[]; readonly line: number } | undefined
  readonly #names: HeaderNames
  /** Undefined in a sheet. */
  readonly #delimiter: string | undefined
  readonly #rowsBefore: number
  readonly #errors: SourceErrors
  /** Those of other files of the month, where it comes in several. */
  readonly #errorsBefore: number

  constructor(profile: Profile, errors: SourceErrors) {
    this.#names = headerNames(profile)
    this.#delimiter = delimiterOf(profile)
    this.#rowsBefore = profile.rowsBeforeHeader
    this.#errors = errors
    this.#errorsBefore = errors.total
  }

  /** @returns the header, if this record is it; @throws EndOfReading where none of those that may be it is */
  look(fields: readonly string[], line: number): Header | undefined {
    // Without its columns no row can be judged, and each would be refused for the header's fault.
    if (this.#errors.total > this.#errorsBefore) throw new EndOfReading()
    if (this.#rowsBefore > 0 && fields.every((field) => field.trim() === '')) return undefined
    const read = readHeader(fields, this.#names)
    if (read.faults.length === 0) return read.header
    if (this.#best === undefined || read.found > this.#best.read.found) this.#best = { read, fields, line }
    this.#seen += 1
    // A record with every column is the header, whatever else is wrong with it.
    const isHeader = read.faults.every(({ index }) => index !== undefined)
    if (isHeader || this.#seen > this.#rowsBefore) {
      this.end()
      throw new EndOfReading()
    }
    return undefined
  }

  /** The file is over and has no header. */
  end(): void {
    if (this.#best === undefined) return
    const { read, fields, line } = this.#best
    const separator = fields.length === 1 && read.found === 0 ? seenSeparator(fields[0] ?? '') : undefined
    if (separator !== undefined && separator !== this.#delimiter) {
      const { rule, message } = refuse('delimiter', 'the header')
      const expected = this.#delimiter === undefined ? '' : `, expected: ${separatorName(this.#delimiter)}`
      const seen = ` (seen: ${separatorName(separator)}${expected})`
      this.#errors.add({ rule, message: message + seen }, { line }, fields[0] ?? '')
      return
    }
    for (const { refusal, index, name } of read.faults) {
      const place = { line, column: index === undefined ? null : index + 1, field: name }
      const found = index === undefined ? fields.join(',') : (fields[index] ?? '')
      this.#errors.add(this.#explained(refusal), place, found)
    }
  }

  /** Where several rows may be the header, which ones were looked at. */
  #explained(refusal: Refusal): Refusal {
    if (this.#rowsBefore === 0 || refusal.rule !== 'header-missing') return refusal
    const looked = `of all first ${this.#seen} rows this one has the most of it`
    return { rule: refusal.rule, message: `${refusal.message} (${looked})` }
  }
}
