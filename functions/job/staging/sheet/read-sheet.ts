import { bounded } from '../containers/byte-stream.ts'
import { SourceUnreadable } from '../containers/source-unreadable.ts'
import type { ZipArchive } from '../containers/zip-archive.ts'
import { readNumberStyles } from './number-styles.ts'
import { readSharedStrings, SharedStrings, type StringLimits } from './shared-strings.ts'
import { type SheetLimits, type SheetRow, SheetRows } from './sheet-rows.ts'
import { chooseSheet, readWorkbook, smallPart } from './workbook.ts'
import { walkXml } from './xml.ts'

export type WorkbookLimits = SheetLimits &
  StringLimits & {
    /** Of a sheet's XML, and of the shared strings'. */
    readonly sheetBytesMax: number
  }

/**
 * Reads one sheet of a workbook as a stream, row by row, with the values as they are stored. In memory are the packed
 * workbook and its shared strings.
 *
 * @param name of the sheet; without one the workbook shows one sheet
 * @throws SourceUnreadable; what `onRow` throws
 */
export const readSheet = async (
  archive: ZipArchive,
  name: string | undefined,
  limits: WorkbookLimits,
  onRow: (row: SheetRow) => void,
): Promise<void> => {
  const workbook = await readWorkbook(archive)
  const { part } = chooseSheet(workbook, name)
  const { from1904, stringsPart, stylesPart } = workbook
  const styles = stylesPart === undefined ? [] : await readNumberStyles(smallPart(archive, stylesPart))
  const strings =
    stringsPart === undefined
      ? new SharedStrings(limits)
      : await readSharedStrings(bounded(archive.read(stringsPart), limits.sheetBytesMax, 'sheet-strings'), limits)
  const rows = new SheetRows({ strings, styles, from1904 }, limits, onRow)
  try {
    await walkXml(bounded(archive.read(part), limits.sheetBytesMax, 'sheet-bytes'), rows)
  } catch (error) {
    if (error instanceof SourceUnreadable) error.row = rows.row
    throw error
  }
}
