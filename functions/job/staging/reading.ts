import { CANONICAL } from '../../contract/profile.ts'
import { type Rejection, refuse, type SourceRules } from '../../contract/source-refusals.ts'
import type { Warning } from '../../contract/warnings.ts'
import { checkRows } from './check-rows.ts'
import { cutChunks, type StagedSource } from './cut-chunks.ts'
import { recordReader } from './file-records.ts'
import { Places } from './places.ts'
import { READ_LIMITS, type ReadLimits, type ReadOptions } from './read-limits.ts'
import { RowTable } from './row-table.ts'
import { SourceErrors } from './source-errors.ts'
import { type SourceFormat, unknownFormat } from './source-format.ts'
import { SourceReader } from './source-reader.ts'
import { SourceWarnings } from './source-warnings.ts'

/** What was seen of a file, whether it is accepted or not. */
export type SourceFacts = SourceFormat & { readonly records: number; readonly ignoredColumns: readonly string[] }

export type ReadResult =
  | {
      readonly accepted: true
      readonly facts: SourceFacts
      readonly source: StagedSource
      readonly warnings: readonly Warning[]
    }
  | { readonly accepted: false; readonly facts: SourceFacts; readonly rejection: Rejection }

/** One reading of a month's file: of one file, or of several, one after the other, into the same rows. */
export class Reading {
  readonly places = new Places()
  readonly errors: SourceErrors
  readonly table: RowTable
  readonly #warnings: SourceWarnings
  readonly #limits: ReadLimits
  readonly #rules: SourceRules
  readonly #options: ReadOptions
  readonly #ignored = new Set<string>()
  #format: SourceFormat = unknownFormat()
  #records = 0

  constructor(rules: SourceRules, options: ReadOptions) {
    this.#rules = rules
    this.#options = options
    this.#limits = { ...READ_LIMITS, ...options.limits }
    const { distinctMax, errorsMax, errorsCountedMax } = this.#limits
    this.errors = new SourceErrors(errorsMax, errorsCountedMax, this.places)
    this.#warnings = new SourceWarnings(options.month, this.places)
    this.table = new RowTable(distinctMax, (name, example) => this.#warnings.add(name, example), this.places)
  }

  /**
   * Reads one file to its end, or to where it makes no sense any more; it is closed in any case.
   *
   * @throws only what `input` throws
   */
  async read(input: AsyncIterable<Buffer>): Promise<void> {
    const { onProgress, profile = CANONICAL } = this.#options
    const errorsBefore = this.errors.total
    const rowsMax = this.#limits.rowsMax - this.#records
    const reader = new SourceReader(this.#rules, rowsMax, this.table, this.errors, this.#warnings, profile)
    const format = unknownFormat()
    const iterator = input[Symbol.asyncIterator]()
    const before = this.#records
    const watched = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of { [Symbol.asyncIterator]: () => iterator }) {
        yield chunk
        onProgress?.(before + reader.records)
      }
    }
    try {
      await recordReader(profile, this.#limits, format)(watched(), this.errors, reader.onRecord)
    } finally {
      await iterator.return?.()
    }
    if (this.errors.total === errorsBefore) reader.end()
    this.#format = format
    this.#records += reader.records
    for (const name of reader.ignoredColumns) this.#ignored.add(name)
    if (reader.records === 0 && this.errors.total === errorsBefore)
      this.errors.add(refuse('empty-file', 'the file'), { line: null }, '')
  }

  /** Judges the rows together, sorts them and cuts them into chunks. Called once, after the last file. */
  result(): ReadResult {
    const { errors, table } = this
    const [warnings, rules, limits] = [this.#warnings, this.#rules, this.#limits]
    this.places.endReading()
    const facts = { ...this.#format, records: this.#records, ignoredColumns: [...this.#ignored] }
    // Of a file that was not read to its end, sums and repetitions say nothing that its sender does not know by then.
    if (errors.isCutShort) return { accepted: false, facts, rejection: errors.rejection() }
    const rows = table.sorted()
    const held = checkRows(rows, table.decimals, rules, limits.trackRowsMax, errors, warnings)
    if (held.isTooMuchOf(rows)) {
      errors.add(refuse('held-rows', 'the file'), { line: null, field: 'share' }, '')
      checkRows(rows, table.decimals, { ...rules, overClaim: 'refuse' }, limits.trackRowsMax, errors, warnings)
    }
    // The cause of a thousand sums that are refused, said once and first.
    if (errors.total > 0 && rules.sumRule === 'exact' && warnings.areFractions)
      errors.add(refuse('shares-as-fractions', 'the file'), { line: null, field: 'share' }, '')
    if (errors.total > 0) return { accepted: false, facts, rejection: errors.rejection() }
    const { chunkRowsMax } = limits
    const source = held.isEmpty
      ? cutChunks(rows, chunkRowsMax)
      : cutChunks(held.without(rows), chunkRowsMax, held.take(rows))
    return { accepted: true, facts, source, warnings: warnings.warnings() }
  }
}
