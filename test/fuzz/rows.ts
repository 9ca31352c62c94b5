import fc from 'fast-check'

/* Rows of shares that every rule accepts, and the text of a share in the forms that a profile may name. */

export type ShareRow = {
  readonly isrc: string
  readonly rightType: string
  readonly party: string
  /** In millionths of a per cent. */
  readonly units: number
}

const ROWS_MAX = 12
/** So that a dozen parties of one track are below 100 %. */
const UNITS_MAX = 8_000_000

const units = fc
  .tuple(fc.integer({ min: 1, max: UNITS_MAX }), fc.constantFrom(1, 10, 1_000, 1_000_000))
  .map(([number, step]) => Math.max(1, Math.floor(number / step)) * Math.min(step, UNITS_MAX))

/** In a workbook this stands for another character, for some writers: it is refused there. */
const ESCAPE = /_x[0-9a-f]{4}_/i

const party = fc.oneof(
  fc
    .string({ unit: fc.constantFrom(...'ABCxyz019._-'), minLength: 1, maxLength: 20 })
    .filter((name) => !ESCAPE.test(name)),
  fc.integer({ min: 0, max: 99_999_999_999 }).map((number) => String(number).padStart(11, '0')),
)

const row: fc.Arbitrary<ShareRow> = fc.record({
  isrc: fc.integer({ min: 0, max: 30 }).map((number) => `KRA01${String(number * 333_333).padStart(7, '0')}`),
  rightType: fc.constantFrom('PERFORMANCE', 'MECHANICAL'),
  party,
  units,
})

export const shareRows = fc.uniqueArray(row, {
  minLength: 1,
  maxLength: ROWS_MAX,
  selector: ({ isrc, rightType, party: name }) => `${isrc} ${rightType} ${name}`,
})

/** The units as a decimal number with that many decimals at most, without zeros at its end. */
export const decimalText = (number: number, decimals: number, sign: string): string => {
  const digits = String(number).padStart(decimals + 1, '0')
  const fraction = digits.slice(-decimals).replace(/0+$/, '')
  const whole = digits.slice(0, -decimals)
  return fraction === '' ? whole : `${whole}${sign}${fraction}`
}

/** The lines that a file of these rows is staged as. */
export const stagedLines = (rows: readonly ShareRow[]): string[] =>
  rows
    .map(({ isrc, rightType, party: name, units: number }) => {
      const digits = String(number).padStart(7, '0')
      return `${isrc}\t${rightType}\t${name}\t${digits.slice(0, -6)}.${digits.slice(-6)}`
    })
    .toSorted()
