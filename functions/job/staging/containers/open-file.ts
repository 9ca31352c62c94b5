import type { SourceRule } from '../../../contract/source-refusals.ts'
import { bounded, followedBy, type SizeLimits, splitHead, startsWith } from './byte-stream.ts'
import { gunzipped } from './gunzip.ts'
import { HEAD_BYTES, OFFICE_HEAD_BYTES, OFFICE_OLD, officeRule, signatureOf } from './signatures.ts'
import { SourceUnreadable } from './source-unreadable.ts'
import { openZip, type ZipArchive } from './zip-archive.ts'

/** What was in a file, whatever it was packed in. */
export type OpenedFile = { readonly compressed: boolean } & (
  | { readonly kind: 'text'; readonly bytes: AsyncIterable<Buffer> }
  | { readonly kind: 'workbook'; readonly archive: ZipArchive }
)

/** @property isUtf16 the text is known to be UTF-16, marked or not */
type OpenLimits = SizeLimits & { readonly isUtf16: boolean }

/** Parts by which the documents that are zip archives are known, in the order in which they are looked for. */
const DOCUMENTS: readonly (readonly [string, SourceRule])[] = [
  ['xl/workbook.bin', 'xlsb'],
  ['content.xml', 'ods'],
  ['Index/Document.iwa', 'numbers'],
  ['[Content_Types].xml', 'office-other'],
]

const isWorkbook = (archive: ZipArchive): boolean => archive.has('xl/workbook.xml')

/** Ends the reading of an old Office file, after as much of it as says what it is. */
const refuseOffice = async (head: Buffer, rest: AsyncIterable<Buffer>): Promise<never> => {
  const { head: longer } = await splitHead(followedBy(head, rest), OFFICE_HEAD_BYTES)
  throw new SourceUnreadable(officeRule(longer))
}

const openPacked = async (archive: ZipArchive, limits: OpenLimits, isInside: boolean): Promise<OpenedFile> => {
  if (isWorkbook(archive)) return { kind: 'workbook', archive, compressed: isInside }
  const document = DOCUMENTS.find(([part]) => archive.has(part))
  if (document !== undefined) throw new SourceUnreadable(document[1])
  const name = archive.onlyName()
  if (isInside) throw new SourceUnreadable('packed-twice')
  return await open(bounded(archive.read(name), limits.bytesMax), limits, true)
}

const opened = async (bytes: AsyncIterable<Buffer>, limits: OpenLimits, isInside: boolean): Promise<OpenedFile> => {
  const { head, rest } = await splitHead(bytes, HEAD_BYTES)
  if (startsWith(head, OFFICE_OLD)) return await refuseOffice(head, rest)
  const whole = followedBy(head, rest)
  const signature = signatureOf(head, limits.isUtf16)
  switch (signature) {
    case 'text':
      return { kind: 'text', bytes: whole, compressed: isInside }
    case 'gzip':
      if (isInside) throw new SourceUnreadable('packed-twice')
      return await open(bounded(gunzipped(whole, limits), limits.bytesMax), limits, true)
    case 'zip':
      return await openPacked(await openZip(whole, limits), limits, isInside)
    default:
      throw new SourceUnreadable(signature)
  }
}

/** Whoever opens a file and refuses it reads no more of it. */
const open = async (bytes: AsyncGenerator<Buffer>, limits: OpenLimits, isInside: boolean): Promise<OpenedFile> => {
  try {
    return await opened(bytes, limits, isInside)
  } catch (error) {
    await bytes.return(undefined)
    throw error
  }
}

/**
 * Opens a file by what its bytes say, whatever it is called: text or a workbook, packed once (gzip, zip with that one
 * file) or not at all. Bounded before and after unpacking. Everything else is refused by name.
 *
 * @param isUtf16 where the distributor's files are: then zero bytes are no sign of another kind of file
 * @throws SourceUnreadable, now or while the bytes are read; what `bytes` throws passes through
 */
export const openFile = (bytes: AsyncIterable<Buffer>, limits: SizeLimits, isUtf16: boolean): Promise<OpenedFile> =>
  open(bounded(bytes, limits.bytesMax), { ...limits, isUtf16 }, false)
