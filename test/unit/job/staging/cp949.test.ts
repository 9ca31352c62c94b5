import fc from 'fast-check'
import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { readSource } from '../../../../functions/job/staging/read-source.ts'
import { AT_MOST, cutAt, linesOf, stageText, verdictsOf } from '../../../support/staging.ts'

describe('CP949', () => {
  const rows = (count: number): string =>
    Array.from({ length: count }, (_, n) => `KRA0126${n + 10_000},P,A,1,title`).join('\n')

  test('is recognised after megabytes of ASCII', async () => {
    const head = `isrc,right_type,party_id,share,title\n${rows(80_000)}\n`
    expect(head.length).toBeGreaterThan(2_000_000)
    const bytes = Buffer.concat([Buffer.from(head), iconv.encode('KRA012699999,P,A,1,가나다\n', 'cp949')])
    const result = await readSource(cutAt(bytes, 65_536, 131_072, 1_000_000), AT_MOST)
    expect(result.facts.encoding).toBe('cp949')
    expect(result.accepted && result.source.manifest.rows).toBe(80_001)
  })

  test.each(['가', '콩', '힝', '뷁', '愛', '李慶', '똠방각하', '～'])(
    'is recognised by a single title %s',
    async (title) => {
      const result = await stageText(
        iconv.encode(`isrc,right_type,party_id,share,${title}\nKRA012600001,P,A,1,뷁\n`, 'cp949'),
      )
      expect(result.facts).toMatchObject({ encoding: 'cp949', ignoredColumns: [title] })
      expect(linesOf(result)).toBe('KRA012600001\tP\tA\t1.000000\n')
    },
  )

  test.each([
    ['a byte CP949 does not have', Buffer.from([0xff])],
    ['a lead byte without its second', Buffer.from([0xb0, 0x2c])],
    ['an unassigned pair', Buffer.from([0xc9, 0xa1])],
    ['a lead byte at the end', Buffer.from([0xb0])],
  ])('with %s is refused with the line', async (_, damage) => {
    const bytes = Buffer.concat([
      iconv.encode('isrc,right_type,party_id,share,title\nKRA012600001,P,A,1,한글\n', 'cp949'),
      Buffer.from('\r\nKRA012600002,P,A,1,'),
      damage,
    ])
    for (let offset = 0; offset <= bytes.length; offset++) {
      const result = await readSource(cutAt(bytes, offset), AT_MOST)
      expect(verdictsOf(result)).toEqual(['4:- encoding'])
    }
  })
})

describe('bytes that may be UTF-8', () => {
  /** On both sides of every border in Unicode's table of well-formed sequences. */
  const BORDERS = '41 7f 80 8f 90 9f a0 bf c1 c2 df e0 ec ed ee ef f0 f1 f4 f5'
    .split(' ')
    .map((hex) => parseInt(hex, 16))
  const bytes = fc.array(fc.constantFrom(...BORDERS), { minLength: 1, maxLength: 7 }).map((some) => Buffer.from(some))
  const cuts = fc.array(fc.nat(80), { maxLength: 4 })
  const fileOf = (title: Buffer): Buffer =>
    Buffer.concat([Buffer.from('isrc,right_type,party_id,share,title\nKRA012600001,P,A,1,'), title, Buffer.from('\n')])
  const isUtf8 = (some: Buffer): boolean => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(some)
      return true
    } catch {
      return false
    }
  }
  const stageCut = (file: Buffer, places: number[]) =>
    readSource(cutAt(file, ...places.filter((at) => at <= file.length).toSorted((a, b) => a - b)), AT_MOST)

  test('are taken behind a byte order mark exactly if they are, and otherwise refused with the line', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, cuts, async (title, places) => {
        const result = await stageCut(Buffer.concat([Buffer.from('\ufeff'), fileOf(title)]), places)
        if (isUtf8(title)) expect(linesOf(result)).toBe('KRA012600001\tP\tA\t1.000000\n')
        else expect(verdictsOf(result)).toEqual(['2:- encoding'])
      }),
      { numRuns: 1_000 },
    )
  })

  test('are taken without one as UTF-8 if they are, as CP949 if they are that alone, and otherwise refused', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, cuts, async (title, places) => {
        const result = await stageCut(fileOf(title), places)
        const isAscii = title.every((byte) => byte < 0x80)
        if (isUtf8(title)) expect(result.facts.encoding).toBe(isAscii ? 'ascii' : 'utf-8')
        else if (result.accepted) expect(result.facts.encoding).toBe('cp949')
        else expect(verdictsOf(result)).toEqual(['2:- encoding'])
        expect(result.accepted).toBe(isUtf8(title) || !iconv.decode(fileOf(title), 'cp949').includes('\ufffd'))
      }),
      { numRuns: 1_000 },
    )
  })
})
