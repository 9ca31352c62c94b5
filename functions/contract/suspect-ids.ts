import type { WarningName } from './warnings.ts'

const MONTH_NAMES = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'

/** What tools write in the place of an id, in the order in which it is recognised. Each is a legal id. */
const SUSPECTS: readonly (readonly [WarningName, RegExp])[] = [
  ['empty-ids', /^(-?nan|none|null|nil|na|nat|undefined|-?inf(inity)?|true|false)$/i],
  ['zero-ids', /^0+(\.0+)?$/],
  ['number-ids', /^(\d+\.0+|\d+(\.\d+)?e-?\d+)$/i],
  [
    'date-ids',
    new RegExp(
      `^((19|20)\\d\\d([-.])\\d{1,2}\\3\\d{1,2}|\\d{1,2}([-.])\\d{1,2}\\4(19|20)\\d\\d|\\d{1,2}[-.](${MONTH_NAMES})([-.]\\d{2,4})?|(${MONTH_NAMES})[-.]\\d{2,4})$`,
      'i',
    ),
  ],
]

/**
 * What an id looks like that a spreadsheet or a data frame made.
 *
 * @param id a party or a right type that the rules of a file accept
 */
export const suspectId = (id: string): WarningName | undefined => SUSPECTS.find(([, pattern]) => pattern.test(id))?.[0]

/** Columns that name the month of a row, as files call them; they are no part of a row. */
export const MONTH_COLUMNS: readonly string[] = ['settlement_month', 'month', 'period', '정산월', '정산년월']

const DAY = '(0?[1-9]|[12]\\d|3[01])'

/** `2026-10`, `2026. 1.`, `2026/10/31 00:00`, `2026년 10월`; and digits alone: `202610`, `20261031`. */
const MONTH_VALUES: readonly RegExp[] = [
  new RegExp(`^(20\\d\\d)(?:[-./] ?|년 ?)(0?[1-9]|1[0-2])(?:월.*|[-./] ?(?:${DAY}(?:[ T.].*)?)?)?$`),
  new RegExp(`^(20\\d\\d)(0[1-9]|1[0-2])${DAY.replace('?', '')}?$`),
]

/** The month that a value names, as `YYYY-MM`; undefined where it names none, or not surely. */
export const namedMonth = (value: string): string | undefined => {
  const text = value.trim()
  for (const pattern of MONTH_VALUES) {
    const [, year, month] = pattern.exec(text) ?? []
    if (year !== undefined && month !== undefined) return `${year}-${month.padStart(2, '0')}`
  }
  return undefined
}
