import { formatUnits } from '../../contract/manifest.ts'
import type { Profile } from '../../contract/profile.ts'
import type { Rejection, SourceColumn, SourceRules } from '../../contract/source-refusals.ts'
import { recordReader } from './file-records.ts'
import { READ_LIMITS } from './read-limits.ts'
import { EndOfReading, type OnRecord } from './record-reader.ts'
import { SourceErrors } from './source-errors.ts'
import { unknownFormat } from './source-format.ts'
import { type RowSink, SourceReader } from './source-reader.ts'
import { SourceWarnings } from './source-warnings.ts'

/** The first rows of a file as its profile makes them; rows together are not judged. */
export type Preview = {
  readonly encoding: string
  readonly compressed: boolean
  /** Null where no header was found. */
  readonly header: { readonly line: number; readonly names: readonly string[] } | null
  readonly rows: readonly (Readonly<Record<SourceColumn, string>> & { readonly line: number })[]
  readonly rejection: Rejection
  readonly ignoredColumns: readonly string[]
}

/**
 * Reads the first rows of a file and no more of it, by the code that stages files.
 *
 * @param rowsMax rows that are read, refused ones included
 * @throws only what `input` throws
 */
export const previewSource = async (
  input: AsyncIterable<Buffer>,
  rules: SourceRules,
  profile: Profile,
  rowsMax: number,
): Promise<Preview> => {
  const format = unknownFormat()
  const errors = new SourceErrors(READ_LIMITS.errorsMax, READ_LIMITS.errorsCountedMax)
  const rows: Preview['rows'][number][] = []
  const sink: RowSink = {
    overfull: undefined,
    add: ({ share, ...row }, line) => rows.push({ line, ...row, share: formatUnits(BigInt(share.units)) }),
  }
  const reader = new SourceReader(rules, READ_LIMITS.rowsMax, sink, errors, new SourceWarnings(), profile)
  let header: Preview['header'] = null
  let isCut = false
  const take: OnRecord = (fields, line, kinds) => {
    const hadHeader = reader.hasHeader
    reader.onRecord(fields, line, kinds)
    if (!hadHeader && reader.hasHeader) header = { line, names: fields }
    if (reader.records < rowsMax) return
    isCut = true
    throw new EndOfReading()
  }
  await recordReader(profile, READ_LIMITS, format)(input, errors, take)
  if (!isCut && errors.total === 0) reader.end()
  return { ...format, header, rows, rejection: errors.rejection(), ignoredColumns: reader.ignoredColumns }
}
