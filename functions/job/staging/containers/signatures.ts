import type { SourceRule } from '../../../contract/source-refusals.ts'
import { startsWith } from './byte-stream.ts'

/** What a file is by its first bytes: something that is opened, text as far as one can see, or why it is not read. */
export type Signature = 'gzip' | 'zip' | 'text' | SourceRule

/** Enough for every signature but that of an old Office file: a tar archive has its own at byte 257. */
export const HEAD_BYTES = 512

/** What an old Office file is, its directory says; in files that Excel writes it is among the first sectors. */
export const OFFICE_HEAD_BYTES = 65_536

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')
export const OFFICE_OLD = latin1('\xd0\xcf\x11\xe0')

const BEGINNINGS: readonly (readonly [Signature, Buffer])[] = [
  ['gzip', latin1('\x1f\x8b')],
  ['zip', latin1('PK\x03\x04')],
  // An archive without entries is its directory's end alone; one in parts begins with a mark of its own.
  ['zip', latin1('PK\x05\x06')],
  ['zip', latin1('PK\x07\x08')],
  ['pdf', latin1('%PDF-')],
  ['packed-7z', latin1('7z\xbc\xaf\x27\x1c')],
  ['packed-rar', latin1('Rar!\x1a\x07')],
  ['packed-other', latin1('BZh')],
  ['packed-other', latin1('\xfd7zXZ\x00')],
  ['packed-other', latin1('\x28\xb5\x2f\xfd')],
  ['packed-other', latin1('\x04\x22\x4d\x18')],
  ['binary', latin1('\x89PNG')],
  ['binary', latin1('\xff\xd8\xff')],
  ['binary', latin1('PAR1')],
  ['binary', latin1('SQLite format 3\x00')],
]

/**
 * Marks that document protection leaves near the beginning of what it locks: Samsung's NASCA, Fasoo, SoftCamp and
 * MarkAny. They wrap whatever a protected computer writes, a CSV file too, and keep its name.
 */
const PROTECTED = /^(<## NASCA DRM FILE|SCDSA\d{3}|.{0,4}DRMONE)/s
/** Names that a file of shares may have in it too: only beside binary data. */
const PROTECTED_BINARY = /^.{0,128}(MarkAny|Fasoo|SoftCamp)/is
// biome-ignore lint/suspicious/noControlCharactersInRegex: what no text has is what is looked for
const NO_TEXT = /[\x00-\x08\x0e-\x1a]/

const isProtected = (head: string): boolean =>
  PROTECTED.test(head) || (PROTECTED_BINARY.test(head) && NO_TEXT.test(head))

const TAR = latin1('ustar')
const TAR_AT = 257

const HTML = /^\s*(<!--[\s\S]*?-->\s*)*<(!doctype html|html|head|meta|body|table|style|div)\b/i
const XML = /^\s*<\?xml\b/i

/** Far enough into a header to see a zero byte of UTF-16, and not as far as the values of a wrong row. */
const ZEROS_WITHIN = 16

/** The rule for an old Office file. @param head as much of it as was read, see OFFICE_HEAD_BYTES */
export const officeRule = (head: Buffer): SourceRule => {
  const has = (name: string): boolean => head.includes(Buffer.from(name, 'utf16le'))
  if (has('EncryptedPackage')) return 'office-password'
  return has('Workbook') || has('Book') ? 'old-xls' : 'office-old'
}

const zerosRule = (head: Buffer): SourceRule => {
  const begin = head.subarray(0, ZEROS_WITHIN)
  const zeros = (odd: number): number => begin.filter((byte, at) => at % 2 === odd && byte === 0).length
  const [even, odd] = [zeros(0), zeros(1)]
  // UTF-16 of a header has every other byte zero, and no zero beside it.
  return (even === 0 || odd === 0) && even + odd >= begin.length / 4 ? 'utf16-unmarked' : 'binary'
}

/** A byte order mark and the zero bytes of UTF-16 are left out, so that tags are seen in any encoding. */
const textOf = (head: Buffer): string =>
  head
    .toString('latin1')
    .replace(/^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '')
    .replaceAll('\0', '')

const UTF16_MARKS = [latin1('\xff\xfe'), latin1('\xfe\xff')]

/**
 * @param head the first HEAD_BYTES of a file, or all of a shorter one
 * @param isUtf16 its text is known to be UTF-16, marked or not
 */
export const signatureOf = (head: Buffer, isUtf16: boolean): Signature => {
  if (isProtected(head.toString('latin1', 0, HEAD_BYTES))) return 'drm'
  const known = BEGINNINGS.find(([, magic]) => startsWith(head, magic))
  if (known !== undefined) return known[0]
  if (head.subarray(TAR_AT, TAR_AT + TAR.length).equals(TAR)) return 'packed-tar'
  const text = textOf(head.subarray(0, HEAD_BYTES))
  if (HTML.test(text)) return 'html'
  if (XML.test(text)) return /<html/i.test(text) ? 'html' : 'xml'
  if (isUtf16 || UTF16_MARKS.some((mark) => startsWith(head, mark))) return 'text'
  return head.subarray(0, ZEROS_WITHIN).includes(0) ? zerosRule(head) : 'text'
}
