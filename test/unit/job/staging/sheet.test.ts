import { describe, expect, test } from 'vitest'
import { errorsOf, linesOf, stageText, verdictsOf } from '../../../support/staging.ts'
import { HEADER_ROW, number, readWorkbookFile, row, sheetXml, text, workbookOf } from '../../../support/workbook.ts'

const rowOf = (share: string, party = text('A')): string => row(text('KRA012600001'), text('P'), party, share)
const sheetOf = (...rows: readonly string[]) => ({ sheets: { Shares: HEADER_ROW + rows.join('') } })
const read = (...rows: readonly string[]) => readWorkbookFile(workbookOf(sheetOf(...rows)))

describe('a share', () => {
  test.each([
    ['33.299999999999997', '33.300000'],
    ['33.333333', '33.333333'],
    ['6.0000000000000002E-5', '0.000060'],
    ['1E2', '100.000000'],
    ['25', '25.000000'],
    ['1.0000000000000001E-5', '0.000010'],
  ])('stored as %s is the number that was typed', async (stored, share) => {
    expect(linesOf(await read(rowOf(number(stored))))).toBe(`KRA012600001\tP\tA\t${share}\n`)
  })

  test.each([
    ['a third that was computed', number('33.333333333333336'), 'share-decimals'],
    ['the noise of a sum', number('24.299999999999997'), 'share-decimals'],
    ['nothing', '', 'share-blank'],
    ['a fraction shown as per cent', number('0.25', 1), 'cell-percent'],
    ['a date', number('46000', 2), 'cell-date'],
    ['a date of a standard', '<c t="d"><v>2026-10-01</v></c>', 'cell-date'],
    ['an error', '<c t="e"><v>#N/A</v></c>', 'cell-error'],
    ['TRUE', '<c t="b"><v>1</v></c>', 'cell-boolean'],
    ['a formula without its result', '<c><f>100/4</f></c>', 'cell-formula'],
    ['a formula with an empty result', '<c><f>100/4</f><v></v></c>', 'cell-formula'],
    ['more than all', number('1E+20'), 'share-range'],
  ])('of %s is refused by its cell', async (_, cell, rule) => {
    const workbook = workbookOf({ ...sheetOf(rowOf(cell)), formats: ['0%', 'yyyy\\-mm\\-dd'] })
    expect(verdictsOf(await readWorkbookFile(workbook))).toEqual([`2:4 ${rule}`])
    expect(errorsOf(await readWorkbookFile(workbook))).toMatchObject([{ cell: 'D2', field: 'share' }])
  })

  test('of a formula is what is stored', async () => {
    expect(linesOf(await read(rowOf('<c><f>100/4</f><v>25</v></c>')))).toContain('25.000000')
    expect(linesOf(await read(rowOf('<c t="str"><f>"25"</f><v>25</v></c>')))).toContain('25.000000')
  })

  test('is a number with a point, also where texts have a comma', async () => {
    const workbook = workbookOf(sheetOf(rowOf(number('12.5')), rowOf(text('12,5'), text('B'))))
    const shares = linesOf(await readWorkbookFile(workbook, { decimalSign: ',' })).match(/12\.500000/g)
    expect(shares).toHaveLength(2)
  })

  test('shown as per cent is read where the profile has fractions', async () => {
    const workbook = workbookOf({ ...sheetOf(rowOf(number('0.25', 1))), formats: ['0.00%'] })
    expect(linesOf(await readWorkbookFile(workbook, { shareUnit: 'fraction' }))).toContain('\t25.000000')
  })
})

describe('an id', () => {
  test.each([
    ['a number', number('14107338'), 'cell-number'],
    ['a number shown with zeros', number('14107338', 3), 'cell-number'],
    ['a number of sixteen digits', number('1234567890123450'), 'cell-digits'],
    ['an exponent', number('1.4107338E+20'), 'cell-digits'],
    ['a date', number('46000', 2), 'cell-date'],
    ['an exponent as text', text('1.41E+10'), 'excel-number'],
    ['an escape', text('A_x0041_'), 'cell-escape'],
    ['an escaped escape', text('A_x005F_x0041_'), 'cell-escape'],
  ])('that is %s is refused by its cell', async (_, cell, rule) => {
    const formats = ['0%', 'm/d/yy', '00000000000']
    const result = await readWorkbookFile(workbookOf({ ...sheetOf(rowOf(number('1'), cell)), formats }))
    expect(errorsOf(result)).toMatchObject([{ rule, line: 2, column: 3, cell: 'C2', field: 'party_id' }])
  })

  test('is its text, whatever the text is made of', async () => {
    const strings = ['<r><t>KOM</t></r><r><rPr/><t xml:space="preserve">CA.</t></r><rPh><t>x</t></rPh><r><t>1</t></r>']
    const shared = '<c t="s"><v>0</v></c>'
    const workbook = workbookOf({ ...sheetOf(rowOf(number('1'), shared)), strings })
    expect(linesOf(await readWorkbookFile(workbook))).toBe('KRA012600001\tP\tKOMCA.1\t1.000000\n')
    const inline = '<c t="inlineStr"><is><r><t><![CDATA[A]]></t></r><rPh><t>x</t></rPh><r><t>&#66;</t></r></is></c>'
    expect(linesOf(await read(rowOf(number('1'), inline)))).toBe('KRA012600001\tP\tAB\t1.000000\n')
  })
})

describe('what is not needed', () => {
  test('may be dates, errors and numbers', async () => {
    const header = row(...['isrc', 'released', 'right_type', 'party_id', 'share', 'note'].map(text))
    const cells = [
      text('KRA012600001'),
      number('46000', 1),
      text('P'),
      text('A'),
      number('1'),
      '<c t="e"><v>#REF!</v></c>',
    ]
    const workbook = workbookOf({ sheets: { S: header + row(...cells) }, formats: ['yyyy"년" m"월"'] })
    const result = await readWorkbookFile(workbook)
    expect(linesOf(result)).toBe('KRA012600001\tP\tA\t1.000000\n')
    expect(result.facts.ignoredColumns).toEqual(['released', 'note'])
  })

  test('is blank rows, blank cells and formats of blank cells', async () => {
    const blank = '<row r="9"><c r="A9" s="0"/><c r="XFD9"/></row>'
    const shares = '<row r="12"><c r="A12" t="inlineStr"><is><t>KRA012600001</t></is></c>'
    const rest = `<c r="B12" t="inlineStr"><is><t>P</t></is></c><c r="C12" t="inlineStr"><is><t>A</t></is></c>`
    const file = workbookOf(sheetOf(blank, `${shares}${rest}<c r="D12"><v>0</v></c><c r="F12" s="0"/></row>`))
    expect(verdictsOf(await readWorkbookFile(file))).toEqual(['12:4 share-range'])
  })
})

describe('the sheet', () => {
  const sheets = { 'Cover & co': row(text('hello')), Shares: HEADER_ROW + rowOf(number('1')) }
  const escaped = { 'Cover &amp; co': sheets['Cover & co'], Shares: sheets.Shares }

  test('is the one that the profile names, shown or hidden', async () => {
    for (const hidden of [[], ['Shares']])
      expect(
        linesOf(
          await readWorkbookFile(workbookOf({ sheets: escaped, hidden }), {
            format: { kind: 'xlsx', sheet: 'Shares' },
          }),
        ),
      ).toContain('KRA012600001')
  })

  test('is found by its name, composed or not', async () => {
    const profile = { format: { kind: 'xlsx', sheet: '지분'.normalize('NFC') } } as const
    const bytes = workbookOf({ sheets: { ['지분'.normalize('NFD')]: sheets.Shares } })
    expect(linesOf(await readWorkbookFile(bytes, profile))).toContain('KRA012600001')
  })

  test('is the only one that is shown, where none is named', async () => {
    const hidden = ['Cover &amp; co']
    expect(linesOf(await readWorkbookFile(workbookOf({ sheets: escaped, hidden })))).toContain('KRA012600001')
    const [choice] = errorsOf(await readWorkbookFile(workbookOf({ sheets: escaped })))
    expect(choice).toMatchObject({ rule: 'sheet-choice' })
    expect(choice?.message).toContain('("Cover & co", "Shares")')
  })

  test('is named where it is missing, with those that are there', async () => {
    const profile = { format: { kind: 'xlsx', sheet: 'Anteile' } } as const
    const [missing] = errorsOf(await readWorkbookFile(workbookOf({ sheets: escaped }), profile))
    expect(missing).toMatchObject({ rule: 'sheet-missing' })
    expect(missing?.message).toContain('(wanted: "Anteile"; there: "Cover & co", "Shares")')
  })
})

describe('a workbook that is not well made is refused', () => {
  test.each([
    ['no XML', '<row><c'],
    ['a wrong nesting', '<row><c></row></c>'],
    ['an entity of its own', '<row><c><v>&nbsp;</v></c></row>'],
    ['a text that is not there', '<row><c t="s"><v>7</v></c></row>'],
    ['a style that is not there', '<row><c s="9"><v>1</v></c></row>'],
    ['a number that is none', '<row><c><v>abc</v></c></row>'],
    ['a hexadecimal number', '<row><c><v>0x10</v></c></row>'],
    ['an unknown type', '<row><c t="x"><v>1</v></c></row>'],
    ['rows out of order', '<row r="5"/><row r="5"/>'],
    ['cells out of order', '<row r="1"><c r="B1"/><c r="A1"/></row>'],
    ['a cell of another row', '<row r="1"><c r="A2"/></row>'],
    ['a row that no sheet has', '<row r="1048577"/>'],
    ['a column that no sheet has', '<row r="1"><c r="XFE1"/></row>'],
    ['an endless text', `<row>${text('x'.repeat(40_000))}</row>`],
    ['elements without end', '<a>'.repeat(100) + '</a>'.repeat(100)],
    ['attributes without end', `<a ${Array.from({ length: 100 }, (_, n) => `b${n}=""`).join(' ')}/>`],
  ])('for %s', async (_, data) => {
    const result = await readWorkbookFile(workbookOf({ sheets: { S: data } }))
    expect(errorsOf(result).map(({ rule }) => rule)).toEqual(['sheet-damaged'])
  })

  test('for a document type, or bytes that are no UTF-8', async () => {
    const name = 'xl/worksheets/sheet1.xml'
    const typed = sheetXml('').replace('<worksheet', '<!DOCTYPE x [<!ENTITY a "b">]><worksheet')
    for (const bytes of [
      typed,
      Buffer.from(sheetXml(text('\u00e9')), 'latin1'),
      Buffer.from(sheetXml(''), 'utf16le'),
    ]) {
      const result = await readWorkbookFile(workbookOf({ sheets: { S: '' }, parts: [{ name, bytes }] }))
      expect(errorsOf(result).map(({ rule }) => rule)).toEqual(['sheet-damaged'])
    }
  })

  test('for styles that are referred to and are not there: a date would be a number', async () => {
    const bytes = workbookOf({ ...sheetOf(rowOf(number('1', 1))), formats: ['yyyy'] })
    const renamed = Buffer.from(bytes.toString('latin1').replaceAll('xl/styles.xml', 'xl/stylez.xml'), 'latin1')
    expect(errorsOf(await readWorkbookFile(renamed)).map(({ rule }) => rule)).toEqual(['zip-damaged'])
  })

  test('and no row behind the damage is judged', async () => {
    const result = await read(rowOf(text('0')), '<row><c t="s"><v>7</v></c></row>', rowOf(text('0')))
    expect(verdictsOf(result)).toEqual(['2:4 share-range', '3:- sheet-damaged'])
  })
})

test('the same rows have the same digest as a workbook and as text', async () => {
  const rows = Array.from({ length: 50 }, (_, n) => [`KRA0126000${10 + n}`, 'P', `A${n}`, `${n + 0.5}`] as const)
  const csv = await stageText(`isrc,right_type,party_id,share\n${rows.map((cells) => `${cells.join(',')}\n`).join('')}`)
  const cells = rows.map(([isrc, type, party, share]) => row(text(isrc), text(type), text(party), number(share)))
  const sheet = await read(...cells)
  expect(sheet).toMatchObject({ accepted: true, source: { manifest: { rows: 50 } } })
  expect(linesOf(sheet)).toBe(linesOf(csv))
  if (sheet.accepted && csv.accepted) expect(sheet.source.manifest.digest).toBe(csv.source.manifest.digest)
})
