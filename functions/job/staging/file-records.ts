import { delimiterOf, type Profile } from '../../contract/profile.ts'
import type { SizeLimits } from './containers/byte-stream.ts'
import { type OpenedFile, openFile } from './containers/open-file.ts'
import { SourceUnreadable } from './containers/source-unreadable.ts'
import { type RecordLimits, readRecords } from './csv-records.ts'
import { withQuotedFormulas } from './formula-text.ts'
import type { RecordReader } from './record-reader.ts'
import type { WorkbookLimits } from './sheet/read-sheet.ts'
import { readSheetRecords } from './sheet-records.ts'
import { utf8Bytes } from './source-encoding.ts'
import type { SourceErrors } from './source-errors.ts'
import type { SourceFormat } from './source-format.ts'

type FileLimits = SizeLimits & RecordLimits & WorkbookLimits

/** Opens the file, or says in \`errors\` what it is instead of one that is read. */
const opened = async (
  bytes: AsyncIterable<Buffer>,
  profile: Profile,
  limits: FileLimits,
  errors: SourceErrors,
): Promise<OpenedFile | undefined> => {
  try {
    const file = await openFile(bytes, limits, profile.encoding.startsWith('utf-16'))
    const isWorkbook = file.kind === 'workbook'
    if (isWorkbook === (profile.format.kind === 'xlsx')) return file
    throw new SourceUnreadable(isWorkbook ? 'xlsx-unexpected' : 'text-unexpected')
  } catch (error) {
    if (!(error instanceof SourceUnreadable)) throw error
    errors.endAt(error.refusal, null)
    return undefined
  }
}

/** The reader of a distributor's files: what a file is, its bytes say; how its records are written, the profile says. */
export const recordReader =
  (profile: Profile, limits: FileLimits, format: SourceFormat): RecordReader =>
  async (bytes, errors, onRecord) => {
    const file = await opened(bytes, profile, limits, errors)
    if (file === undefined) return
    format.compressed = file.compressed
    if (file.kind === 'workbook') {
      const sheet = profile.format.kind === 'xlsx' ? profile.format.sheet : undefined
      format.encoding = 'xlsx'
      errors.isSheet = true
      await readSheetRecords(file.archive, sheet, limits, errors, onRecord)
      return
    }
    format.encoding = 'ascii'
    const delimiter = delimiterOf(profile) ?? ','
    const utf8 = utf8Bytes(file.bytes, format, profile.encoding)
    await readRecords(withQuotedFormulas(utf8, delimiter), { ...limits, delimiter }, errors, onRecord)
  }
