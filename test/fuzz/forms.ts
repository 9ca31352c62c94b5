import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import iconv from 'iconv-lite'
import { Profile } from '../../functions/contract/profile.ts'
import { zipOf } from '../../local/zip-file.ts'
import { workbookOf } from '../support/workbook.ts'
import { decimalText, type ShareRow } from './rows.ts'

/* The same rows in any form that a profile may name. */

const UNIT_DECIMALS = { percent: 6, fraction: 8, 'basis-points': 4 } as const

const format = fc.oneof(
  fc.constantFrom({ kind: 'csv' as const }, { kind: 'tsv' as const }),
  fc.constantFrom(';', '|', '^', '#').map((delimiter) => ({ kind: 'delimited' as const, delimiter })),
  fc.constantFrom({ kind: 'xlsx' as const }, { kind: 'xlsx' as const, sheet: 'Shares' }),
)

export const formArbitrary = fc.record({
  format,
  encoding: fc.constantFrom('utf-8', 'utf-8 marked', 'utf-16le marked', 'utf-16be marked', 'utf-16le', 'cp949'),
  packing: fc.constantFrom('none', 'gzip', 'zip', 'zip stored'),
  decimalSign: fc.constantFrom('.' as const, ',' as const),
  shareUnit: fc.constantFrom('percent' as const, 'fraction' as const, 'basis-points' as const),
  constantRightType: fc.boolean(),
  koreanNames: fc.boolean(),
  rowsBefore: fc.nat(2),
  rowsAfter: fc.nat(2),
  order: fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 }),
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  isQuoted: fc.boolean(),
  note: fc.constantFrom('', '봄날', 'a "b"', 'x,y;z|w\t#^', 'two\nlines', ' ', '=1'),
  hyphens: fc.boolean(),
  zeros: fc.nat(4),
  numbers: fc.boolean(),
  shared: fc.boolean(),
  places: fc.boolean(),
})
export type Form = typeof formArbitrary extends fc.Arbitrary<infer T> ? T : never

const NAMES = ['isrc', 'right_type', 'party_id', 'share'] as const
const KOREAN = ['트랙', '권리', '권리자', '몫'] as const

export const profileOf = (form: Form): Profile => {
  const [isrc, rightType, partyId, share] = form.koreanNames ? KOREAN : NAMES
  return Profile.parse({
    format: form.format,
    encoding: form.encoding === 'utf-16le' ? 'utf-16le' : 'detected',
    rowsBeforeHeader: form.rowsBefore,
    rowsAfterData: form.rowsAfter,
    decimalSign: form.decimalSign,
    shareUnit: form.shareUnit,
    columns: {
      isrc: [isrc],
      right_type: form.constantRightType ? { constant: 'PERFORMANCE' } : [rightType],
      party_id: [partyId],
      share: [share],
    },
  })
}

/** The rows as the form can hold them: with one right type, if that is constant. */
export const rowsOf = (form: Form, rows: readonly ShareRow[]): ShareRow[] => {
  if (!form.constantRightType) return [...rows]
  const seen = new Map(rows.map((row) => [`${row.isrc} ${row.party}`, { ...row, rightType: 'PERFORMANCE' }]))
  return [...seen.values()]
}

/** All records of the file, the share of each row as a text. */
const recordsOf = (form: Form, rows: readonly ShareRow[]): string[][] => {
  const names: readonly string[] = form.koreanNames ? KOREAN : NAMES
  const order = form.order.filter((column) => column !== 1 || !form.constantRightType)
  const shareText = (units: number): string => {
    const text = decimalText(units, UNIT_DECIMALS[form.shareUnit], form.decimalSign)
    return text.includes(form.decimalSign) ? text + '0'.repeat(form.zeros) : text
  }
  const pick = (values: readonly string[]): string[] => order.map((column) => values[column] ?? '')
  const isrcText = (isrc: string): string =>
    form.hyphens ? `${isrc.slice(0, 2)}-${isrc.slice(2).toLowerCase()}` : isrc
  return [
    ...Array.from({ length: form.rowsBefore }, (_, n) => pick([`title ${n}`, '', '', '', 'x'])),
    pick([...names, 'note']),
    ...rows.map((row) => pick([isrcText(row.isrc), row.rightType, row.party, shareText(row.units), form.note])),
    ...Array.from({ length: form.rowsAfter }, () => pick(['total', '', '', '7', 'x'])),
  ]
}

const encoded = (text: string, encoding: Form['encoding']): Buffer => {
  if (encoding === 'cp949') return iconv.encode(text, 'cp949')
  const [name, marked] = encoding.split(' ')
  return iconv.encode(text, name ?? '', { addBOM: marked !== undefined })
}

const textFile = (form: Form, records: readonly string[][]): Buffer => {
  const delimiter =
    { csv: ',', tsv: '\t', delimited: '', xlsx: '' }[form.format.kind] ||
    ('delimiter' in form.format ? form.format.delimiter : ',')
  const value = (text: string): string =>
    form.isQuoted || /["\n\r]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text
  const lines = records.map((record) => record.map(value).join(delimiter) + form.lineEnd)
  return encoded(lines.join(''), form.encoding)
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const letter = (column: number): string => String.fromCharCode(65 + column)

const sheetFile = (form: Form, records: readonly string[][]): Buffer => {
  const strings: string[] = []
  const share = form.order.filter((column) => column !== 1 || !form.constantRightType).indexOf(3)
  const cell = (text: string, column: number, row: number): string => {
    const place = form.places ? ` r="${letter(column)}${row}"` : ''
    const isNumber = form.numbers && column === share && /^\d/.test(text)
    // Seventeen digits of a double, as Excel writes them.
    if (isNumber) return `<c${place}><v>${Number(text.replace(',', '.')).toPrecision(17)}</v></c>`
    if (!form.shared) return `<c${place} t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`
    strings.push(`<t xml:space="preserve">${escaped(text)}</t>`)
    return `<c${place} t="s"><v>${strings.length - 1}</v></c>`
  }
  const rows = records.map((record, n) => {
    const place = form.places ? ` r="${n + 1}"` : ''
    return `<row${place}>${record.map((text, column) => cell(text, column, n + 1)).join('')}</row>`
  })
  const sheets = { Shares: rows.join(''), Other: '<row><c><v>1</v></c></row>' }
  return workbookOf({ sheets, hidden: ['Other'], ...(form.shared ? { strings } : {}) })
}

/** Whether a changed byte of the file is always found: by a checksum of what it is packed in. */
export const isChecked = ({ format: { kind }, packing }: Form): boolean => kind === 'xlsx' || packing !== 'none'

export const fileOf = (form: Form, rows: readonly ShareRow[]): Buffer => {
  const records = recordsOf(form, rows)
  const bytes = form.format.kind === 'xlsx' ? sheetFile(form, records) : textFile(form, records)
  if (form.packing === 'none') return bytes
  if (form.packing === 'gzip') return gzipSync(bytes)
  return zipOf({ name: 'file', bytes, method: form.packing === 'zip' ? 8 : 0 })
}
