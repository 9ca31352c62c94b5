import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { readSource } from '../../../../functions/job/staging/read-source.ts'
import { AT_MOST, cutAt, errorsOf, verdictsOf } from '../../../support/staging.ts'

const TEXT =
  '제목,isrc,right_type,party_id,share\r\n' +
  '"봄날, 뷁",KRA012600001,PERF,KOMCA.1,50\r\n' +
  '"두 줄\r\n제목 😀",KRA012600001,PERF,FKMP.2,50\r\n'

// CP949 has no emoji.
const KOREAN = TEXT.replace(' 😀', '')
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

describe('gzip', () => {
  const zipped = gzipSync(FILES['UTF-8']?.bytes ?? '')

  test('bytes behind a zero byte after a member are never dropped without a word', async () => {
    const second = gzipSync('KRA012600009,PERFORMANCE,KOMCA.9,50\n')
    for (const bytes of [Buffer.concat([zipped, Buffer.alloc(1), second]), Buffer.concat([zipped, Buffer.alloc(512)])])
      expect(errorsOf(await readSource(cutAt(bytes), AT_MOST)).map(({ rule }) => rule)).toContain('gzip-damaged')
  })

  test('that ends anywhere before its end is refused by name', async () => {
    for (let length = 2; length < zipped.length; length++) {
      const result = await readSource(cutAt(zipped.subarray(0, length)), AT_MOST)
      expect(
        errorsOf(result).map(({ rule }) => rule),
        `${length} bytes`,
      ).toContain('gzip-truncated')
    }
  })

  test('with a changed byte or with something behind it is refused by name', async () => {
    const changed = Buffer.from(zipped)
    changed[zipped.length - 6] = (changed[zipped.length - 6] ?? 0) ^ 1
    for (const bytes of [changed, Buffer.concat([zipped, Buffer.from('more')])]) {
      expect(errorsOf(await readSource(cutAt(bytes), AT_MOST)).map(({ rule }) => rule)).toContain('gzip-damaged')
    }
  })

  test('that unpacks to more than a file may have is refused without being unpacked to its end', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, 'x'))
    const result = await readSource(cutAt(bomb), AT_MOST, { limits: { bytesMax: 1_000_000, recordCharsMax: 1e9 } })
    expect(verdictsOf(result)).toEqual(['1:- file-bytes'])
  })

  test('passes an error of the storage on as it is', async () => {
    const failure = new Error('the connection was reset')
    const broken = Readable.from(
      (async function* () {
        yield zipped.subarray(0, 30)
        throw failure
      })(),
    )
    await expect(readSource(broken, AT_MOST)).rejects.toBe(failure)
  })
})
