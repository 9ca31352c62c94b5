import { ROW_COLUMNS } from '../../functions/contract/row-format.ts'
import { zipOf } from '../../local/zip-file.ts'

/* A workbook as Excel saves it: texts shared, numbers as doubles, each cell with its place and its style. */

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const OFFICE = 'http://schemas.openxmlformats.org'
const MAIN = `xmlns="${OFFICE}/spreadsheetml/2006/main"`
const RELATIONS = `${OFFICE}/officeDocument/2006/relationships`

const relation = (id: string, type: string, target: string): string =>
  `<Relationship Id="${id}" Type="${RELATIONS}/${type}" Target="${target}"/>`

/** Rows of XML that are joined into one buffer at a time. */
const PIECE_ROWS = 10_000

/** @param records of text, the share last; the share becomes a number */
export const workbookFile = (records: Iterable<readonly string[]>): Buffer => {
  const numbers = new Map<string, number>()
  const numberOf = (text: string): number => {
    const known = numbers.get(text)
    if (known !== undefined) return known
    numbers.set(text, numbers.size)
    return numbers.size - 1
  }
  const letters = ['A', 'B', 'C', 'D']
  const cell = (text: string, column: number, row: number): string => {
    const place = `${letters[column]}${row}`
    // Excel keeps seventeen digits of a double.
    if (column === 3 && row > 1) return `<c r="${place}" s="1"><v>${Number(Number(text).toPrecision(17))}</v></c>`
    return `<c r="${place}" s="0" t="s"><v>${numberOf(text)}</v></c>`
  }
  const pieces: Buffer[] = []
  let lines: string[] = [`${XML}<worksheet ${MAIN}><sheetData>`]
  const flush = (): void => {
    pieces.push(Buffer.from(lines.join('')))
    lines = []
  }
  let row = 0
  const add = (fields: readonly string[]): void => {
    row += 1
    lines.push(
      `<row r="${row}" spans="1:4" x14ac:dyDescent="0.3">${fields.map((text, n) => cell(text, n, row)).join('')}</row>`,
    )
    if (lines.length === PIECE_ROWS) flush()
  }
  add(ROW_COLUMNS)
  for (const fields of records) add(fields)
  lines.push('</sheetData></worksheet>')
  flush()
  const strings = Buffer.from(
    `${XML}<sst ${MAIN}>${[...numbers.keys()].map((text) => `<si><t>${text}</t></si>`).join('')}</sst>`,
  )
  const part = (name: string, bytes: string | Buffer) => ({ name, bytes })
  return zipOf(
    part('[Content_Types].xml', `${XML}<Types/>`),
    part(
      'xl/workbook.xml',
      `${XML}<workbook ${MAIN} xmlns:r="${RELATIONS}"><sheets><sheet name="Shares" sheetId="1" r:id="a"/></sheets></workbook>`,
    ),
    part(
      'xl/_rels/workbook.xml.rels',
      `${XML}<Relationships>${relation('a', 'worksheet', 'worksheets/sheet1.xml')}${relation('b', 'sharedStrings', 'sharedStrings.xml')}${relation('c', 'styles', 'styles.xml')}</Relationships>`,
    ),
    part(
      'xl/styles.xml',
      `${XML}<styleSheet ${MAIN}><cellXfs><xf numFmtId="0"/><xf numFmtId="2"/></cellXfs></styleSheet>`,
    ),
    part('xl/worksheets/sheet1.xml', Buffer.concat(pieces)),
    part('xl/sharedStrings.xml', strings),
  )
}
