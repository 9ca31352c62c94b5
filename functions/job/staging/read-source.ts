import { CHUNK_ROWS_MAX, TRACK_ROWS_MAX } from '../../contract/limits.ts'
import { CANONICAL, type Profile } from '../../contract/profile.ts'
import {
  BLANK_LINES_FREE,
  BLANK_LINES_PER_RECORD,
  COLUMNS_MAX,
  DISTINCT_VALUES_MAX,
  ERRORS_COUNTED_MAX,
  EXPANSION_FREE_BYTES,
  EXPANSION_MAX,
  RECORD_CHARS_MAX,
  REJECT_ERRORS_MAX,
  SHARED_STRINGS_BYTES_MAX,
  SHARED_STRINGS_MAX,
  SHEET_BYTES_MAX,
  SHEET_CELLS_MAX,
  SOURCE_BYTES_MAX,
  SOURCE_ROWS_MAX,
  ZIP_BYTES_MAX,
  ZIP_ENTRIES_MAX,
} from '../../contract/source-limits.ts'
import { type Rejection, refuse, type SourceRules } from '../../contract/source-refusals.ts'
import type { Warning } from '../../contract/warnings.ts'
import { checkRows } from './check-rows.ts'
import { cutChunks, type StagedSource } from './cut-chunks.ts'
import { recordReader } from './file-records.ts'
import { RowTable } from './row-table.ts'
import { SourceErrors } from './source-errors.ts'
import { type SourceFormat, unknownFormat } from './source-format.ts'
import { SourceReader } from './source-reader.ts'
import { SourceWarnings } from './source-warnings.ts'

/** The limits of the contract; tests set smaller ones. */
export const READ_LIMITS = {
  chunkRowsMax: CHUNK_ROWS_MAX,
  trackRowsMax: TRACK_ROWS_MAX,
  rowsMax: SOURCE_ROWS_MAX,
  bytesMax: SOURCE_BYTES_MAX,
  zipBytesMax: ZIP_BYTES_MAX,
  zipEntriesMax: ZIP_ENTRIES_MAX,
  expansionMax: EXPANSION_MAX,
  expansionFreeBytes: EXPANSION_FREE_BYTES,
  recordCharsMax: RECORD_CHARS_MAX,
  columnsMax: COLUMNS_MAX,
  cellsMax: SHEET_CELLS_MAX,
  sheetBytesMax: SHEET_BYTES_MAX,
  sharedStringsMax: SHARED_STRINGS_MAX,
  sharedStringsBytesMax: SHARED_STRINGS_BYTES_MAX,
  blankLinesFree: BLANK_LINES_FREE,
  blankLinesPerRecord: BLANK_LINES_PER_RECORD,
  distinctMax: DISTINCT_VALUES_MAX,
  errorsMax: REJECT_ERRORS_MAX,
  errorsCountedMax: ERRORS_COUNTED_MAX,
}
type ReadLimits = typeof READ_LIMITS

export type ReadOptions = {
  readonly limits?: Partial<ReadLimits>
  /** How the file is written; without one it is the canonical file. */
  readonly profile?: Profile | undefined
  /** Called now and then with the number of records read so far. */
  readonly onProgress?: ((records: number) => void) | undefined
  /** The month that the file is registered for; where it is not known, a column of months is not compared. */
  readonly month?: string | undefined
}

/** What was seen of a file, whether it is accepted or not. */
type SourceFacts = SourceFormat & { readonly records: number; readonly ignoredColumns: readonly string[] }

export type ReadResult =
  | {
      readonly accepted: true
      readonly facts: SourceFacts
      readonly source: StagedSource
      readonly warnings: readonly Warning[]
    }
  | { readonly accepted: false; readonly facts: SourceFacts; readonly rejection: Rejection }

/**
 * Reads a distributor's file once, as a stream, and makes the staged source of it or says why not; nothing is written.
 * Steps: unpack, decode to UTF-8, parse CSV (or read a sheet), turn records into the four columns, judge and normalise
 * each row, sort, judge rows together, cut into chunks.
 *
 * @param input the file's bytes, cut anywhere; it is closed in any case
 * @throws only what `input` throws
 */
export const readSource = async (
  input: AsyncIterable<Buffer>,
  rules: SourceRules,
  options: ReadOptions = {},
): Promise<ReadResult> => {
  const limits = { ...READ_LIMITS, ...options.limits }
  const format = unknownFormat()
  const errors = new SourceErrors(limits.errorsMax, limits.errorsCountedMax)
  const warnings = new SourceWarnings(options.month)
  const table = new RowTable(limits.distinctMax, (name, example) => warnings.add(name, example))
  const profile = options.profile ?? CANONICAL
  const reader = new SourceReader(rules, limits.rowsMax, table, errors, warnings, profile)
  const iterator = input[Symbol.asyncIterator]()
  const watched = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of { [Symbol.asyncIterator]: () => iterator }) {
      yield chunk
      options.onProgress?.(reader.records)
    }
  }
  try {
    await recordReader(profile, limits, format)(watched(), errors, reader.onRecord)
  } finally {
    await iterator.return?.()
  }
  if (errors.total === 0) reader.end()
  const facts = { ...format, records: reader.records, ignoredColumns: reader.ignoredColumns }
  if (reader.records === 0 && errors.total === 0) errors.add(refuse('empty-file', 'the file'), { line: null }, '')
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

/** What `validateFile` says about a good file. */
type SourceSummary = {
  readonly rows: number
  readonly tracks: number
  readonly parties: number
  readonly shareSum: string
  readonly chunks: number
  readonly digest: string
}

export type Verdict =
  | { readonly accepted: true; readonly facts: SourceFacts; readonly summary: SourceSummary }
  | { readonly accepted: false; readonly facts: SourceFacts; readonly rejection: Rejection }

/** The verdict StageSource would give on a file, without a store: what an operator or a distributor runs beforehand. */
export const validateFile = async (
  input: AsyncIterable<Buffer>,
  rules: SourceRules,
  options: ReadOptions = {},
): Promise<Verdict> => {
  const result = await readSource(input, rules, options)
  if (!result.accepted) return result
  const { rows, tracks, parties, shareSum, digest, chunks } = result.source.manifest
  const summary = { rows, tracks, parties, shareSum, chunks: chunks.length, digest }
  return { accepted: true, facts: result.facts, summary }
}
