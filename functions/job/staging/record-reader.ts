import type { CellKind } from './sheet/cell-value.ts'
import type { SourceErrors } from './source-errors.ts'

/**
 * One record: its fields as they are stored, and where it begins: a text's physical line, or a sheet's row, each counted
 * from 1. The arrays may be kept: a reader makes new ones for each record. Of a sheet, `fields[0]` is column A, blank
 * cells at the end may be left out, and `kinds` has the kind of each field; without `kinds` all are text.
 */
export type OnRecord = (fields: string[], line: number, kinds?: readonly CellKind[]) => void

/**
 * Reads a file's bytes, unpacked and cut anywhere, record by record; blank records are left out. Where the reading ends
 * because of the file, the reason goes to `errors`. An EndOfReading that OnRecord throws ends it without a word.
 *
 * @throws only what `bytes` throws
 */
export type RecordReader = (bytes: AsyncIterable<Buffer>, errors: SourceErrors, onRecord: OnRecord) => Promise<void>

/** Thrown by an OnRecord to end reading: what follows would only repeat what is wrong. */
export class EndOfReading extends Error {
  override readonly name = 'EndOfReading'
}
