import fc from 'fast-check'
import iconv from 'iconv-lite'
import { describe, expect, test } from 'vitest'
import { Profile } from '../../../../functions/contract/profile.ts'
import { readSource } from '../../../../functions/job/staging/read-source.ts'
import { propose } from '../../../../operator/operations/propose/propose.ts'
import { AT_MOST, cutAt } from '../../../support/staging.ts'
import { workbookOf } from '../../../support/workbook.ts'

const NOTHING = { columns: {}, rightType: undefined }
const DETECTED = { encoding: 'detected' } as const

const proposed = (file: string | Buffer, named: object = {}, options: object = {}) => {
  const bytes = Buffer.from(file as string)
  return propose(() => cutAt(bytes), { ...DETECTED, ...options }, { ...NOTHING, ...named })
}

/** The proposal's document, which must read the file that it was made of. */
const documentOf = async (file: string | Buffer, named: object = {}, options: object = {}): Promise<object> => {
  const { profile, document } = await proposed(file, named, options)
  const read = await readSource(cutAt(Buffer.from(file as string)), AT_MOST, { profile })
  expect(read).toMatchObject({ accepted: true })
  expect(Profile.parse(document)).toEqual(profile)
  return document
}

const ROWS = 'KRA012600001,PERF,A1,50\nKRA012600001,PERF,B1,50\nKRA012600002,MECH,A1,99.5\n'

describe('the profile proposed', () => {
  test('for a canonical file is the canonical one, in any order and case', async () => {
    expect(await documentOf(`isrc,right_type,party_id,share\n${ROWS}`)).toEqual({})
    expect(await documentOf(`ISRC,Right_Type,PARTY_ID,Share,제목\n${ROWS.replaceAll('\n', ',x\n')}`)).toEqual({})
  })

  test('for a Korean text has its names, its titles, its totals, its separator and its decimal comma', async () => {
    const text = `2026년 10월 정산\n;;;;\n곡명;ISRC코드;권리구분;수취인번호;지분율(%)\n가;KRA012600001;공연;x1;33,5\n`
    const rows = `${text.replaceAll('공연', 'PERF')}KRA;KRA012600002;PERF;x2;66,5\n합계;;;;100\n`
    const document = await documentOf(iconv.encode(rows, 'cp949'))
    expect(document).toEqual({
      format: { kind: 'delimited', delimiter: ';' },
      rowsBeforeHeader: 1,
      columns: { isrc: ['ISRC코드'], right_type: ['권리구분'], party_id: ['수취인번호'], share: ['지분율(%)'] },
      rowsAfterData: 1,
      decimalSign: ',',
    })
  })

  test.each([
    ['fraction', '0.25', '0.75'],
    ['percent', '25', '75'],
    ['basis-points', '2500', '7500'],
  ])('has the unit %s where shares are %s and %s', async (shareUnit, one, other) => {
    const { profile, seen } = await proposed(
      `isrc,right_type,party_id,share\nKRA012600001,P,A,${one}\nKRA012600001,P,B,${other}\n`,
    )
    expect(profile.shareUnit).toBe(shareUnit)
    expect(seen).toMatchObject({
      header: { line: 1, names: ['isrc', 'right_type', 'party_id', 'share'] },
      share: { shareUnit, largest: String(Number(other)), sum: String(Number(one) + Number(other)) },
    })
  })

  test('for a workbook has its sheet, and its numbers have a decimal point', async () => {
    const cell = (text: string): string => `<c t="inlineStr"><is><t>${text}</t></is></c>`
    const header = `<row>${['ISRC', '권리', 'IPI', '지분'].map(cell).join('')}</row>`
    const row = `<row>${['KRA012600001', 'PERF', 'A1'].map(cell).join('')}<c><v>33.5</v></c></row>`
    const file = workbookOf({ sheets: { 안내: `<row>${cell('x')}</row>`, 정산: header + row } })
    await expect(proposed(file)).rejects.toThrow(/^No profile can be proposed: the file .*정산/)
    expect(await documentOf(file, {}, { sheet: '정산' })).toEqual({
      format: { kind: 'xlsx', sheet: '정산' },
      columns: { isrc: ['isrc'], right_type: ['권리'], party_id: ['IPI'], share: ['지분'] },
    })
  })

  test('has what people name where the file does not tell', async () => {
    const text = 'isrc,a,b,first,second\nKRA012600001,AB,CD,10,20\n'
    await expect(proposed(text)).rejects.toThrow(
      'No profile can be proposed: several columns may be share: "first", "second". Name its column: --column share=NAME.',
    )
    const columns = { share: 'Second', party_id: 'a', right_type: 'b' }
    expect(await documentOf(text, { columns })).toEqual({
      columns: { isrc: ['isrc'], right_type: ['b'], party_id: ['a'], share: ['second'] },
    })
    expect(await documentOf(text, { columns: { share: 'first', party_id: 'b' }, rightType: 'PERF' })).toMatchObject({
      columns: { right_type: { constant: 'PERF' } },
    })
    await expect(proposed(text, { columns: { share: 'third' } })).rejects.toThrow(/has no column "third" for share/)
  })

  test.each([
    ['', /three columns or more/],
    ['isrc,right_type,party_id,share\n', /no row has an ISRC/],
    [ROWS, /its first row, line 1, is no header but has an ISRC/],
    [Buffer.from('%PDF-1.7\n'), /PDF/],
  ])('is none for %j', async (file, problem) => {
    await expect(proposed(file)).rejects.toThrow(problem)
  })

  test('is one that reads the file, or none, whatever the file is', async () => {
    const cell = fc.oneof(fc.constantFrom('KRA012600001', 'PERF', '25', '0,5', 'share', '지분', '', '"x"'), fc.string())
    const file = fc.array(fc.array(cell, { maxLength: 6 }), { maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(file, fc.constantFrom(',', ';', '\t', '|'), async (records, delimiter) => {
        const text = records.map((record) => record.join(delimiter)).join('\n')
        const result = await proposed(text).catch((error: Error) => error)
        if (result instanceof Error) expect(result.message).toMatch(/^No profile can be proposed: /)
        else expect(Profile.parse(result.document)).toEqual(result.profile)
      }),
      { seed: 15, numRuns: 500 },
    )
  })
})
