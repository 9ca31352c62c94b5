import { refuse } from '../../contract/source-refusals.ts'
import { SourceUnreadable } from './containers/source-unreadable.ts'
import type { ZipArchive } from './containers/zip-archive.ts'
import { EndOfReading, type OnRecord } from './record-reader.ts'
import { readSheet, type WorkbookLimits } from './sheet/read-sheet.ts'
import type { SheetRow } from './sheet/sheet-rows.ts'
import type { SourceErrors } from './source-errors.ts'

/**
 * Reads a sheet of a workbook record by record, as readRecords reads a text: its rows by their number in the sheet. Where
 * the workbook is damaged or too large the reading ends, and `errors` says so with the row it has come to.
 */
export const readSheetRecords = async (
  archive: ZipArchive,
  sheet: string | undefined,
  limits: WorkbookLimits & { readonly recordCharsMax: number },
  errors: SourceErrors,
  onRecord: OnRecord,
): Promise<void> => {
  const take = ({ row, fields, kinds, isTooWide }: SheetRow): void => {
    let chars = 0
    for (const field of fields) chars += field.length
    if (isTooWide || chars > limits.recordCharsMax)
      errors.add(refuse('record-length', 'the row'), { line: row }, fields[0] ?? '')
    else onRecord(fields, row, kinds)
    if (!errors.isFull) return
    errors.stoppedAtLine = row
    throw new EndOfReading()
  }
  try {
    await readSheet(archive, sheet, limits, take)
  } catch (error) {
    if (error instanceof EndOfReading) return
    if (!(error instanceof SourceUnreadable)) throw error
    errors.endAt(error.refusal, error.row)
  }
}
