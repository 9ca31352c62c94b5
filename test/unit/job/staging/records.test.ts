import { describe, expect, test } from 'vitest'
import { RECORD_CHARS_MAX } from '../../../../functions/contract/source-limits.ts'
import { readSource } from '../../../../functions/job/staging/read-source.ts'
import { AT_MOST, cutAt, errorsOf, HEADER, linesOf, stageText, verdictsOf } from '../../../support/staging.ts'

describe('a header', () => {
  test('may have any case, any order, spaces and further columns, which are named', async () => {
    const result = await stageText('Share , 제목,PARTY_ID,"Right_Type",ISRC,note\n25,x,A,PERF,KRA012600001,y\n')
    expect(linesOf(result)).toBe('KRA012600001\tPERF\tA\t25.000000\n')
    expect(result.facts.ignoredColumns).toEqual([' 제목', 'note'])
  })

  test.each([
    ['isrc,right_type,party_id\nKRA012600001,P,A\n', ['1:- header-missing']],
    ['\n\nisrc;right_type;party_id;share\n', ['3:- delimiter']],
    ['isrc,right_type,party_id,share,Share\nKRA012600001,P,A,1,2\n', ['1:5 header-duplicate']],
    ['isrc,note,right_type,party_id,share,NOTE\nKRA012600001,,P,A,1,\n', ['1:6 header-duplicate']],
    ['KRA012600001,P,A,1\n', Array.from({ length: 4 }, () => '1:- header-missing')],
  ])('%j is refused', async (text, verdicts) => {
    expect(verdictsOf(await stageText(text))).toEqual(verdicts)
  })

  test('may have several columns without a name', async () => {
    const result = await stageText('isrc,right_type,party_id,share,,\nKRA012600001,P,A,1,,\n')
    expect(result.accepted).toBe(true)
  })
})

describe('a file without rows', () => {
  test.each(['', '\ufeff', HEADER, HEADER.trim(), `\ufeff${HEADER}`, '\n\r\n\n', '  \n\t\n', `\n${HEADER}\n \n\n`])(
    '%j is refused',
    async (text) => {
      expect(verdictsOf(await stageText(text))).toEqual(['-:- empty-file'])
    },
  )
})

describe('lines', () => {
  test.each(['\n', '\r\n', '\r'])('that end with %j leave nothing of it in a value', async (end) => {
    const text = `${HEADER}KRA012600001,P,A,1\nKRA012600002,P,"B",2`.replaceAll('\n', end)
    for (let offset = 0; offset <= text.length; offset++) {
      const result = await readSource(cutAt(Buffer.from(text), offset), AT_MOST)
      expect(linesOf(result)).toBe('KRA012600001\tP\tA\t1.000000\nKRA012600002\tP\tB\t2.000000\n')
    }
  })

  test('are counted as an editor counts them, past blank lines and breaks inside quotes', async () => {
    const text =
      '\r\nisrc,right_type,party_id,share,note\r\n' + // 2
      'KRA012600001,P,A,x,"one\r\ntwo\r\n\r\nthree"\r\n' + // 3-6
      '\r\n  \r\n' + // 7, 8
      'KRA012600001,P,A,y,"a\nb\rc"\n' + // 9-11
      '\n' + // 12
      'KRA012600001,P,A,,\n' // 13
    for (let offset = 0; offset <= text.length; offset++) {
      const result = await readSource(cutAt(Buffer.from(text), offset), AT_MOST)
      expect(verdictsOf(result)).toEqual(['3:4 share-format', '9:4 share-format', '13:4 share-blank'])
    }
  })
})

describe('a record', () => {
  test('that is short or long is refused with its line', async () => {
    const result = await stageText(`${HEADER}KRA012600001,P,A\nKRA012600001,P,A,1,234\nKRA012600001,P,A,1\n`)
    expect(verdictsOf(result)).toEqual(['2:- column-count', '3:- column-count'])
    expect(errorsOf(result)[1]?.message).toContain('(5 instead of 4)')
    expect(errorsOf(result)[1]?.value).toBe('KRA012600001,P,A,1,234')
  })

  test('of separators only is one error and not one per column', async () => {
    expect(verdictsOf(await stageText(`${HEADER},,,\nKRA012600001,P,A,1\n , ,,\n`))).toEqual([
      '2:- blank-row',
      '4:- blank-row',
    ])
  })

  test('with an unclosed quote is found at the record limit and not at the end of a million rows', async () => {
    let pieces = 0
    const file = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from(`${HEADER}KRA012600001,P,"A,1\n`)
      for (; pieces < 1_000; pieces++) yield Buffer.from('KRA012600001,P,A,1\n'.repeat(1_000))
    }
    const result = await readSource(file(), AT_MOST)
    expect(verdictsOf(result)).toEqual(['2:3 record-length'])
    expect(pieces).toBeLessThan(3)
  })

  test('with a quote that the end of the file leaves open is refused where it begins', async () => {
    const result = await stageText(`${HEADER}KRA012600001,P,A,1\n\nKRA012600002,P,A,"1\nKRA012600003,P,A,1\n`)
    expect(verdictsOf(result)).toEqual(['4:4 unclosed-quote'])
  })

  test.each(['KRA012600001,P,A"B,1\n', 'KRA012600001,P,"A"B,1\n'])('%j has a stray quote', async (row) => {
    expect(verdictsOf(await stageText(`${HEADER}KRA012600002,P,A,1\n${row}`))).toEqual(['3:3 stray-quote'])
  })

  test('may have as many characters as the limit, however many bytes they take, and not one more', async () => {
    const head = 'isrc,right_type,party_id,share,note\n'
    const fits = '가'.repeat(RECORD_CHARS_MAX - 'KRA012600001PA1'.length)
    expect((await stageText(`${head}KRA012600001,P,A,1,${fits}\n`)).accepted).toBe(true)
    const result = await stageText(`${head}KRA012600001,P,A,1,${fits}나\nKRA012600001,P,A,x,\n`)
    expect(verdictsOf(result)).toEqual(['2:- record-length', '3:4 share-format'])
  })

  test('names every wrong value by its own line, column and rule', async () => {
    const result = await stageText('share,isrc,note,party_id,right_type\n33.3%,1.23457E+12,x,홍길동,\n')
    expect(errorsOf(result)).toMatchObject([
      {
        line: 2,
        column: 1,
        field: 'share',
        value: '33.3%',
        rule: 'share-percent-sign',
        message: 'share "33.3%" has a percent sign; write the number alone, e.g. 33.3',
      },
      {
        line: 2,
        column: 2,
        field: 'isrc',
        value: '1.23457E+12',
        rule: 'excel-number',
        message:
          'isrc "1.23457E+12" was turned into a number by a spreadsheet and its digits are lost; export the column as text',
      },
      expect.objectContaining({ line: 2, column: 4, field: 'party_id', value: '홍길동', rule: 'party-format' }),
      expect.objectContaining({ line: 2, column: 5, field: 'right_type', value: '', rule: 'right-type-blank' }),
    ])
  })

  test('keeps an id that no double holds', async () => {
    const result = await stageText(`${HEADER}KRA012600001,P,9007199254740993,1\nKRA012600001,P,9007199254740992,1\n`)
    expect(linesOf(result)).toBe(
      'KRA012600001\tP\t9007199254740992\t1.000000\nKRA012600001\tP\t9007199254740993\t1.000000\n',
    )
  })

  test('has an IPI name number as its party where the distributor has that scheme', async () => {
    const rules = { sumRule: 'at-most', partyScheme: 'ipi' } as const
    expect((await stageText(`${HEADER}KRA012600001,P,00014107338,1\n`, rules)).accepted).toBe(true)
    const result = await stageText(`${HEADER}KRA012600001,P,14107338,1\nKRA012600001,P,00014107339,1\n`, rules)
    expect(verdictsOf(result)).toEqual(['2:3 ipi-length', '3:3 ipi-check-digits'])
  })
})
