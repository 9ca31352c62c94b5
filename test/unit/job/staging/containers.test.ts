import { gzipSync } from 'node:zlib'
import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { SOURCE_RULES, type SourceRule } from '../../../../functions/contract/source-refusals.ts'
import { readSource } from '../../../../functions/job/staging/read-source.ts'
import { type ZipEntry, zipOf } from '../../../../local/zip-file.ts'
import { AT_MOST, errorsOf, HEADER, linesOf, stageText, verdictsOf } from '../../../support/staging.ts'
import { HEADER_ROW, number, readWorkbookFile, row, text, workbookOf } from '../../../support/workbook.ts'

const CSV = `${HEADER}KRA012600001,P,A,1\n`
const LINES = 'KRA012600001\tP\tA\t1.000000\n'
const WORKBOOK = workbookOf({
  sheets: { S: HEADER_ROW + row(text('KRA012600001'), text('P'), text('A'), number('1')) },
})
const csvEntry: ZipEntry = { name: 'shares.csv', bytes: CSV }

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')
const office = (stream: string): Buffer =>
  Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(1_000), utf16(stream), Buffer.alloc(9_000)])
const tar = Buffer.concat([Buffer.alloc(257, 'a'), latin1('ustar\x0000'), Buffer.alloc(600)])

const FILES: readonly (readonly [string, SourceRule, Buffer])[] = [
  ['a workbook', 'xlsx-unexpected', WORKBOOK],
  ['a packed workbook', 'xlsx-unexpected', gzipSync(WORKBOOK)],
  ['an old workbook', 'old-xls', office('Workbook')],
  ['a workbook of Excel 95', 'old-xls', office('Book')],
  ['a workbook with a password', 'office-password', office('EncryptedPackage')],
  ['an old Word file', 'office-old', office('WordDocument')],
  ['a file of eight bytes', 'office-old', office('').subarray(0, 8)],
  ['a binary workbook', 'xlsb', zipOf({ name: 'xl/workbook.bin', bytes: 'x' })],
  ['an OpenDocument spreadsheet', 'ods', zipOf({ name: 'content.xml', bytes: 'x' })],
  ['a document of Numbers', 'numbers', zipOf({ name: 'Index/Document.iwa', bytes: 'x' })],
  ['a Word file', 'office-other', zipOf({ name: '[Content_Types].xml', bytes: 'x' })],
  ['a page', 'html', Buffer.from('\ufeff\r\n<html xmlns:x="urn:schemas-microsoft-com:office:excel"><table>')],
  ['a table of a page in UTF-16', 'html', utf16('\ufeff <TABLE border=1>')],
  ['a page behind a comment', 'html', Buffer.from('<!-- saved --><!DOCTYPE html>')],
  ['a page as XML', 'html', Buffer.from('<?xml version="1.0"?><html>')],
  ['an XML spreadsheet', 'xml', Buffer.from('<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>')],
  ['a PDF', 'pdf', Buffer.from('%PDF-1.7\n')],
  ['a file of NASCA', 'drm', Buffer.from('<## NASCA DRM FILE - VER1.00 ##>isrc')],
  ['a file of Fasoo', 'drm', latin1('\x9b DRMONE  This Document is encrypted and protected by Fasoo DRM \0')],
  ['a file of SoftCamp', 'drm', latin1('SCDSA004\0\0\0')],
  ['a file of MarkAny', 'drm', latin1('\x01\x02MarkAny\0\0\0')],
  ['a picture', 'binary', latin1('\x89PNG\r\n')],
  ['a file of zeros', 'binary', Buffer.alloc(900)],
  ['a tar archive', 'packed-tar', tar],
  ['a tar archive in gzip', 'packed-tar', gzipSync(tar)],
  ['gzip in gzip', 'packed-twice', gzipSync(gzipSync(CSV))],
  ['gzip in a zip archive', 'packed-twice', zipOf({ name: 'a.gz', bytes: gzipSync(CSV) })],
  ['a zip archive in one', 'packed-twice', zipOf({ name: 'a.zip', bytes: zipOf(csvEntry) })],
  ['a 7z archive', 'packed-7z', latin1('7z\xbc\xaf\x27\x1c')],
  ['a RAR archive', 'packed-rar', latin1('Rar!\x1a\x07\x01\x00')],
  ['bzip2', 'packed-other', latin1('BZh91AY')],
  ['xz', 'packed-other', latin1('\xfd7zXZ\0')],
  ['Zstandard', 'packed-other', latin1('\x28\xb5\x2f\xfd')],
  ['a zip archive with a password', 'zip-password', zipOf({ ...csvEntry, flags: 1 })],
  ['a zip archive without a file', 'zip-empty', zipOf({ name: 'folder/', bytes: '' })],
  ['an empty zip archive', 'zip-empty', zipOf()],
  ['a zip archive with two files', 'zip-several', zipOf(csvEntry, { name: 'b.csv', bytes: CSV })],
  ['a zip archive of another method', 'zip-method', zipOf({ ...csvEntry, method: 9 })],
  ['a zip archive with one name twice', 'zip-damaged', zipOf(csvEntry, csvEntry)],
  ['half a zip archive', 'zip-truncated', zipOf(csvEntry).subarray(0, 60)],
  ['UTF-16 without its mark', 'utf16-unmarked', utf16(CSV)],
  ['UTF-16BE without its mark', 'utf16-unmarked', utf16(CSV).swap16()],
]

describe('what a file is, is told', () => {
  test.each(FILES)('of %s as %s', async (_, rule, bytes) => {
    const errors = errorsOf(await stageText(bytes))
    expect(errors.map((error) => [error.rule, error.line])).toEqual([[rule, null]])
    expect(errors[0]?.message).toContain(`the file ${SOURCE_RULES[rule]}`)
  })

  test('wherever its bytes are cut', async () => {
    for (const [name, rule, bytes] of FILES) {
      const pieces = async function* () {
        for (const byte of bytes.subarray(0, 3_000)) yield Buffer.of(byte)
        yield bytes.subarray(3_000)
      }
      expect(verdictsOf(await readSource(pieces(), AT_MOST)), name).toEqual([`-:- ${rule}`])
    }
  })

  test('of text where a workbook was expected', async () => {
    expect(verdictsOf(await readWorkbookFile(Buffer.from(CSV)))).toEqual(['-:- text-unexpected'])
    expect(verdictsOf(await readWorkbookFile(gzipSync(CSV)))).toEqual(['-:- text-unexpected'])
  })

  test('and no text is taken for something else', async () => {
    for (const party of ['MarkAny', 'Fasoo', 'PK', 'BZh9', 'SCDSA004'])
      expect(linesOf(await stageText(`${HEADER}KRA012600001,P,${party},1\n`))).toContain(party)
    const korean = iconv.encode(`제목,${HEADER}마크애니,KRA012600001,P,MarkAny,1\n`, 'cp949')
    expect(linesOf(await stageText(korean))).toContain('MarkAny')
  })
})

describe('a file that is packed once', () => {
  test('is read from a zip archive as from gzip', async () => {
    for (const method of [0, 8]) {
      const result = await stageText(zipOf({ ...csvEntry, method }))
      expect(linesOf(result)).toBe(LINES)
      expect(result.facts).toMatchObject({ compressed: true, encoding: 'ascii' })
    }
  })

  test('is read though a folder and what macOS adds lie beside it', async () => {
    const more = ['out/', '__MACOSX/out/._shares.csv', 'out/.DS_Store'].map((name) => ({ name, bytes: '' }))
    expect(linesOf(await stageText(zipOf(...more, csvEntry)))).toBe(LINES)
  })

  test('may be a workbook', async () => {
    for (const bytes of [WORKBOOK, gzipSync(WORKBOOK), zipOf({ name: 'a.xlsx', bytes: WORKBOOK })])
      expect(linesOf(await readWorkbookFile(bytes))).toBe(LINES)
  })

  test.each([
    ['checksum', { ...csvEntry, crc: 1 }],
    ['size, too small', { ...csvEntry, size: 3 }],
    ['size, too large', { ...csvEntry, size: 3_000 }],
    ['size, stored', { ...csvEntry, method: 0, size: 3 }],
  ])('is refused where the directory tells another %s', async (_, entry) => {
    const rules = errorsOf(await stageText(zipOf(entry))).map(({ rule }) => rule)
    expect(rules).toContain('zip-damaged')
  })

  test('is refused where any byte of it was changed, or read as it was', async () => {
    const bytes = zipOf(csvEntry)
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ 0x55
      const result = await stageText(changed)
      if (result.accepted) expect(linesOf(result), `byte ${at}`).toBe(LINES)
    }
  })

  test('names the files of an archive with several', async () => {
    const entries = ['a.csv', 'b\u200b.csv', 'c.csv', 'd.csv'].map((name) => ({ name, bytes: CSV, flags: 0x800 }))
    expect(errorsOf(await stageText(zipOf(...entries)))[0]?.message).toContain(
      '(a.csv, b\\u200b.csv, c.csv and 1 more)',
    )
  })
})
