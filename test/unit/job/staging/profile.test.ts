import { describe, expect, test } from 'vitest'
import { Profile } from '../../../../functions/contract/profile.ts'
import type { ReadResult } from '../../../../functions/job/staging/read-source.ts'
import { AT_MOST, errorsOf, HEADER, linesOf, stageText, verdictsOf } from '../../../support/staging.ts'

const read = (text: string | Buffer, profile: unknown): Promise<ReadResult> =>
  stageText(text, AT_MOST, { profile: Profile.parse(profile) })

const CANONICAL_TEXT = `${HEADER}KRA012600001,PERF,A,33.3333\nKRA012600001,PERF,B,25\nKRA012600002,PERF,A,0.05\n`

const digestOf = (result: ReadResult): string => {
  if (!result.accepted) throw new Error(linesOf(result))
  return result.source.manifest.digest
}

describe('the same rows', () => {
  test.each([
    ['tabs', { format: { kind: 'tsv' } }, CANONICAL_TEXT.replaceAll(',', '\t')],
    ['bars', { format: { kind: 'delimited', delimiter: '|' } }, CANONICAL_TEXT.replaceAll(',', '|')],
    [
      'semicolons and decimal commas',
      { format: { kind: 'delimited', delimiter: ';' }, decimalSign: ',' },
      CANONICAL_TEXT.replaceAll(',', ';').replaceAll('.', ','),
    ],
    [
      'fractions',
      { shareUnit: 'fraction' },
      `${HEADER}KRA012600001,PERF,A,0.333333\nKRA012600001,PERF,B,0.25\nKRA012600002,PERF,A,0.000500\n`,
    ],
    [
      'basis points',
      { shareUnit: 'basis-points' },
      `${HEADER}KRA012600001,PERF,A,3333.33\nKRA012600001,PERF,B,2500\nKRA012600002,PERF,A,5\n`,
    ],
    [
      'titles, names of their own, a constant right type and totals',
      {
        rowsBeforeHeader: 3,
        columns: {
          isrc: ['ISRC코드'],
          right_type: { constant: 'perf' },
          party_id: ['수취인 번호'],
          share: ['지분율', 'Share %'],
        },
        rowsAfterData: 2,
      },
      '정산 내역\n,,,\n2026년 10월,,,\nSHARE  %,비고,수취인 번호,ISRC코드\n33.3333,x,A,KRA012600001\n25,,B,KRA012600001\n0.05,,A,KRA012600002\n합계,,,58.3833\n끝\n',
    ],
  ])('as %s give the same staged digest', async (_, profile, text) => {
    const expected = digestOf(await stageText(CANONICAL_TEXT))
    expect(digestOf(await read(text, profile))).toBe(expected)
  })
})

describe('the header', () => {
  const profile = { rowsBeforeHeader: 2, columns: { isrc: ['트랙', 'ISRC'] } }

  test('that is in none of the rows where it may be is told by the row that has the most of it', async () => {
    const result = await read('title\nISRC,party_id,share\nx,y\nKRA012600001,A,1\n', profile)
    expect(errorsOf(result)).toMatchObject([
      {
        line: 2,
        rule: 'header-missing',
        field: 'right_type',
        message: 'the column "right_type" is missing from the header (of all first 3 rows this one has the most of it)',
      },
    ])
  })

  test('that a file ends before is refused', async () => {
    expect(verdictsOf(await read('title\n', profile))).toEqual([
      '1:- header-missing',
      '1:- header-missing',
      '1:- header-missing',
      '1:- header-missing',
    ])
    expect(verdictsOf(await read('', profile))).toEqual(['-:- empty-file'])
  })

  test('that has one column under two names is refused, and so is a composed name decomposed', async () => {
    const twice = await read('isrc,트랙,right_type,party_id,share\n', profile)
    expect(verdictsOf(twice)).toEqual(['1:2 header-duplicate'])
    const decomposed = await read(`${'트랙'.normalize('NFD')},right_type,party_id,share\nKRA012600001,P,A,1\n`, profile)
    expect(decomposed.accepted).toBe(true)
  })

  test('may have the columns that are ignored, and no others', async () => {
    const listed = { ignoredColumns: ['Note', 'title'] }
    const text = 'isrc,right_type,party_id,share,NOTE,title,title\nKRA012600001,P,A,1,,,\n'
    expect((await read(text, listed)).accepted).toBe(true)
    const unknown = await read(text.replace('NOTE', 'month'), listed)
    expect(verdictsOf(unknown)).toEqual(['1:5 header-unknown'])
  })

  test('may have no right type where the profile has one', async () => {
    const constant = { columns: { right_type: { constant: 'P' } } }
    expect(verdictsOf(await read(`${HEADER}KRA012600001,M,A,1\n`, constant))).toEqual(['1:2 header-constant'])
  })
})

describe('rows after the data', () => {
  test.each([
    ['KRA012600002,P,A,1', 'a whole row'],
    ['KRA012600002,P,A,x', 'an ISRC'],
    ['KRA01260000,P,A,1', 'a row whose ISRC alone is wrong'],
  ])('may not be %s, which is %s', async (last) => {
    const result = await read(`${HEADER}KRA012600001,P,A,1\n${last}\n`, { rowsAfterData: 1 })
    expect(verdictsOf(result)).toEqual(['3:- rows-after-data'])
    expect(errorsOf(result)[0]?.value).toBe(last)
  })

  test('that are more than the profile has are refused as rows', async () => {
    const result = await read(`${HEADER}KRA012600001,P,A,1\ntotal,,,1\nend,,,\n`, { rowsAfterData: 1 })
    expect(verdictsOf(result)).toEqual(['3:1 isrc-format', '3:2 right-type-blank', '3:3 party-blank'])
  })
})

describe('a share', () => {
  test.each([
    [{ decimalSign: ',' }, '33.3', 'share-decimal-point'],
    [{ decimalSign: ',' }, '1.234', 'share-decimal-point'],
    [{ decimalSign: ',' }, '1.234,5', 'share-thousands-separator'],
    [{ shareUnit: 'fraction' }, '25', 'share-fraction-range'],
    [{ shareUnit: 'fraction' }, '1.00000001', 'share-fraction-range'],
    [{ shareUnit: 'fraction' }, '0.123456789', 'share-fraction-decimals'],
    [{ shareUnit: 'fraction' }, '0', 'share-fraction-range'],
    [{ shareUnit: 'basis-points' }, '10001', 'share-points-range'],
    [{ shareUnit: 'basis-points' }, '0.00001', 'share-points-decimals'],
  ])('under %j, %j is refused as %s', async (profile, share, rule) => {
    const result = await read(`${HEADER}KRA012600001,P,A,"${share}"\n`, profile)
    expect(verdictsOf(result)).toEqual([`2:4 ${rule}`])
  })
})

describe('an encoding', () => {
  test('that is named reads what could not be detected', async () => {
    const text = `isrc,right_type,party_id,share,제목\nKRA012600001,P,A,1,가\n`
    const unmarked = Buffer.from(text, 'utf16le')
    expect(linesOf(await read(unmarked, { encoding: 'utf-16le' }))).toBe('KRA012600001\tP\tA\t1.000000\n')
    expect(verdictsOf(await read(unmarked, {}))).toEqual(['-:- utf16-unmarked'])
  })

  // The bytes are Python's.
  test.each([
    ['cp949', '뷁지분', '94eec1f6bad0'],
    ['cp932', '楽曲①', '8a798bc88740'],
    ['gb18030', '曲目㐀', 'c7fac4bf8139ee39'],
    ['cp950', '曲目碁', 'a6b1a5d8f9d6'],
    ['windows-1252', 'Œuvre €', '8c757672652080'],
  ])('%s is decoded exactly, or the file is refused', async (encoding, name, hex) => {
    const file = (bytes: string): Buffer =>
      Buffer.concat([Buffer.from(bytes, 'hex'), Buffer.from(',right_type,party_id,share\nKRA012600001,P,A,1\n')])
    const profile = { encoding, columns: { isrc: [name] } }
    expect(linesOf(await read(file(hex), profile))).toBe('KRA012600001\tP\tA\t1.000000\n')
    const broken = encoding === 'windows-1252' ? '81' : 'ff'
    expect(verdictsOf(await read(file(hex + broken), profile))).toEqual(['1:- encoding'])
  })

  test('that the mark of the file contradicts is refused', async () => {
    const result = await read(`\ufeff${HEADER}KRA012600001,P,A,1\n`, { encoding: 'cp949' })
    expect(errorsOf(result)[0]?.message).toBe(
      'the file is not in the encoding that these files have; save it in that one (marked as utf-8, expected as cp949)',
    )
  })
})
