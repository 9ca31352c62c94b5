import { CHUNK_ROWS_MAX, TRACK_ROWS_MAX } from '../../contract/limits.ts'
import type { Profile } from '../../contract/profile.ts'
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
export type ReadLimits = typeof READ_LIMITS

export type ReadOptions = {
  readonly limits?: Partial<ReadLimits>
  /** How the file is written; without one it is the canonical file. */
  readonly profile?: Profile | undefined
  /** Called now and then with the number of records read so far. */
  readonly onProgress?: ((records: number) => void) | undefined
  /** The month that the file is registered for; where it is not known, a column of months is not compared. */
  readonly month?: string | undefined
}
