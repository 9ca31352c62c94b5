import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { readSource } from '../../../../functions/job/staging/read-source.ts'
import { AT_MOST, cutAt, errorsOf, linesOf, stageText, verdictsOf } from '../../../support/staging.ts'

const TEXT =
  '제목,isrc,right_type,party_id,share\r\n' +
  '"봄날, 뷁",KRA012600001,PERF,KOMCA.1,50\r\n' +
  '"두 줄\r\n제목 😀",KRA012600001,PERF,FKMP.2,50\r\n'

// CP949 has no emoji.
const KOREAN = TEXT.replace(' 😀', '')
const STAGED = 'KRA012600001\tPERF\tFKMP.2\t50.000000\nKRA012600001\tPERF\tKOMCA.1\t50.000000\n'
const utf16be = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le').swap16()

const FILES: Record<string, { bytes: Buffer; encoding: string; compressed?: boolean }> = {
  'UTF-8': { bytes: Buffer.from(TEXT), encoding: 'utf-8' },
  'UTF-8 with a BOM': { bytes: Buffer.from(`\ufeff${TEXT}`), encoding: 'utf-8' },
  'UTF-8 with a BOM and a quoted header': {
    bytes: Buffer.from(`\ufeff${TEXT.replace('제목,isrc', '"제목","isrc"')}`),
    encoding: 'utf-8',
  },
  'UTF-16LE': { bytes: Buffer.from(`\ufeff${TEXT}`, 'utf16le'), encoding: 'utf-16le' },
  'UTF-16BE': { bytes: utf16be(TEXT), encoding: 'utf-16be' },
  CP949: { bytes: iconv.encode(KOREAN, 'cp949'), encoding: 'cp949' },
  'gzip of UTF-8': { bytes: gzipSync(TEXT), encoding: 'utf-8', compressed: true },
  'gzip of CP949': { bytes: gzipSync(iconv.encode(KOREAN, 'cp949')), encoding: 'cp949', compressed: true },
  'gzip in two members': {
    bytes: Buffer.concat([gzipSync(TEXT.slice(0, 50)), gzipSync(TEXT.slice(50))]),
    encoding: 'utf-8',
    compressed: true,
  },
}

describe('a file', () => {
  test.each(Object.entries(FILES))('in %s is cut at every byte offset and stays the same', async (_, file) => {
    for (let offset = 0; offset <= file.bytes.length; offset++) {
      const result = await readSource(cutAt(file.bytes, offset), AT_MOST)
      expect(linesOf(result), `cut at ${offset}`).toBe(STAGED)
      expect(result.facts).toMatchObject({ encoding: file.encoding, compressed: file.compressed ?? false, records: 2 })
      expect(result.facts.ignoredColumns).toEqual(['제목'])
    }
  })

  test('in one-byte pieces is the same in every encoding and has one address', async () => {
    const addresses = new Set<string>()
    for (const { bytes } of Object.values(FILES)) {
      const result = await readSource(cutAt(bytes, ...bytes.keys()), AT_MOST)
      expect(linesOf(result)).toBe(STAGED)
      if (result.accepted) addresses.add(result.source.manifest.digest)
    }
    expect(addresses.size).toBe(1)
  })

  test('without a letter outside ASCII is ASCII', async () => {
    const result = await stageText('isrc,right_type,party_id,share\nKRA012600001,PERF,A,1\n')
    expect(result.facts.encoding).toBe('ascii')
  })

  test('shows a Hangul value in its errors as it is in the file, wherever it is cut', async () => {
    const bytes = iconv.encode('isrc,right_type,party_id,share\nKRA012600001,PERF,뷁홍길동,1\n', 'cp949')
    for (let offset = 0; offset <= bytes.length; offset++) {
      const [error] = errorsOf(await readSource(cutAt(bytes, offset), AT_MOST))
      expect(error).toMatchObject({ line: 2, column: 3, rule: 'party-format', value: '뷁홍길동' })
    }
  })
})

describe('an undecodable file', () => {
  const utf8 = (text: string): Buffer => Buffer.from(text)
  const head = 'isrc,right_type,party_id,share,title\n'
  const row = (isrc: string, title: string): string => `${isrc},P,A,1,${title}\n`

  test.each<[string, Buffer, string]>([
    [
      'UTF-8 followed by CP949',
      Buffer.concat([
        utf8(head + row('KRA012600001', '한글 제목')),
        iconv.encode(row('KRA012600002', '한글'), 'cp949'),
      ]),
      '3:- encoding',
    ],
    [
      'a BOM followed by CP949',
      Buffer.concat([utf8(`\ufeff${head}`), iconv.encode(row('KRA012600001', '한글'), 'cp949')]),
      '2:- encoding',
    ],
    ['UTF-8 cut inside a character', utf8(head + row('KRA012600001', '한글')).subarray(0, -2), '2:- encoding'],
    [
      'an encoded surrogate',
      Buffer.concat([utf8(head + row('KRA012600001', '한글')), Buffer.from([0xed, 0xa0, 0x80, 0x0a])]),
      '3:- encoding',
    ],
    [
      'UTF-16LE with an odd byte',
      Buffer.concat([Buffer.from(`\ufeff${head}`, 'utf16le'), Buffer.from([0x41])]),
      '2:- encoding',
    ],
    ['UTF-16LE with a lone surrogate', Buffer.from(`\ufeff${head}x\ud83d,y`, 'utf16le'), '2:- encoding'],
    ['UTF-16BE that ends in half a character', utf16be(`${head}x\ud83d`), '2:- encoding'],
    ['UTF-16 without a BOM', Buffer.from(head, 'utf16le'), '-:- utf16-unmarked'],
  ])('of %s is refused with the line, wherever it is cut', async (_, bytes, verdict) => {
    for (let offset = 0; offset <= bytes.length; offset++) {
      const result = await readSource(cutAt(bytes, offset), AT_MOST)
      expect(verdictsOf(result), `cut at ${offset}`).toEqual([verdict])
    }
  })
})

describe('decoding', () => {
  test('is the same for every text and every way to cut it', async () => {
    const title = fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => text.replace(/["\r\n\0\ufeff]/g, ''))
    await fc.assert(
      fc.asyncProperty(
        title,
        fc.array(fc.nat(400), { maxLength: 8 }),
        fc.constantFrom('utf8', 'utf16le'),
        async (name, cuts, encoding) => {
          const text = `\ufeffisrc,right_type,party_id,share,"t${name}"\nKRA012600001,P,A,1,"${name}"\n`
          const bytes = Buffer.from(text, encoding as BufferEncoding)
          const places = cuts.filter((cut) => cut <= bytes.length).toSorted((a, b) => a - b)
          const result = await readSource(cutAt(bytes, ...places), AT_MOST)
          expect(linesOf(result)).toBe('KRA012600001\tP\tA\t1.000000\n')
          expect(result.facts.ignoredColumns).toEqual([`t${name}`])
        },
      ),
    )
  })
})
