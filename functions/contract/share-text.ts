import type { ShareForm } from './profile.ts'
import { SHARE_DECIMALS, SHARE_SUM_MAX_UNITS } from './source-limits.ts'
import { type Refusal, refuse, type SourceRule } from './source-refusals.ts'

/** A share in exact millionths of a percent, and the decimals that it needs as a percentage. */
export type Share = { readonly units: number; readonly decimals: number }

const PLAIN = { '.': /^([0-9]+)(?:\.([0-9]+))?$/, ',': /^([0-9]+)(?:,([0-9]+))?$/ } as const

type Damage = readonly (readonly [SourceRule, RegExp])[]

const ANY_SIGN: Damage = [
  ['share-full-width', /[\uff01-\uff5e]/],
  ['share-percent-sign', /%/],
  ['share-hexadecimal', /^[+-]?0x/i],
]

/** What a share that is no plain number looks like, in the order in which it is recognised. */
const DAMAGE: Readonly<Record<ShareForm['decimalSign'], Damage>> = {
  '.': [
    ...ANY_SIGN,
    ['share-thousands-separator', /^[+-]?\d{1,3}(,\d{3})+(\.\d*)?$/],
    ['share-decimal-comma', /^[+-]?\d+,\d+$/],
    ['share-exponent', /^[+-]?(\d+\.?\d*|\.\d+)e[+-]?\d+$/i],
    ['share-sign', /^[+-][\d.]/],
  ],
  ',': [
    ...ANY_SIGN,
    ['share-decimal-point', /^[+-]?\d+\.\d+$/],
    ['share-thousands-separator', /^[+-]?\d{1,3}(\.\d{3})+(,\d*)?$/],
    ['share-exponent', /^[+-]?(\d+,?\d*|,\d+)e[+-]?\d+$/i],
    ['share-sign', /^[+-][\d,]/],
  ],
}

type Unit = {
  /** Decimals that the number has more than the same share as a percentage. */
  readonly shift: number
  /** Digits before the decimal sign of a whole, 100 %. */
  readonly wholeDigits: number
  readonly range: SourceRule
  readonly decimals: SourceRule
}

const UNITS: Readonly<Record<ShareForm['shareUnit'], Unit>> = {
  percent: { shift: 0, wholeDigits: 3, range: 'share-range', decimals: 'share-decimals' },
  fraction: { shift: 2, wholeDigits: 1, range: 'share-fraction-range', decimals: 'share-fraction-decimals' },
  'basis-points': { shift: -2, wholeDigits: 5, range: 'share-points-range', decimals: 'share-points-decimals' },
}

const ZERO = 48

/** Zeros at the end of a fraction say nothing: 33.33 and 33.3300000000 are one number, and get one verdict. */
const withoutZeros = (fraction: string): string => {
  let end = fraction.length
  while (end > 0 && fraction.charCodeAt(end - 1) === ZERO) end -= 1
  return end === fraction.length ? fraction : fraction.slice(0, end)
}

/**
 * A share from its trimmed text, without a float in between, in the form that the profile names: a quarter is `25`,
 * `0.25` or `2500`. As a percentage it has up to 6 decimals, and 0 < share <= 100. Where the decimal sign is a point,
 * `33,333` is taken for a thousands separator and `33,3` for a decimal comma; both are refused.
 *
 * @param text the value as it is in the file, for the refusal
 */
export const shareOf = (value: string, text: string, { decimalSign, shareUnit }: ShareForm): Share | Refusal => {
  const parts = PLAIN[decimalSign].exec(value)
  if (parts === null) {
    const damage = DAMAGE[decimalSign].find(([, pattern]) => pattern.test(value))
    return refuse(damage === undefined ? 'share-format' : damage[0], 'share', text)
  }
  const unit = UNITS[shareUnit]
  const whole = parts[1] ?? ''
  const fraction = withoutZeros(parts[2] ?? '')
  const decimals = fraction.length - unit.shift
  if (decimals > SHARE_DECIMALS) return refuse(unit.decimals, 'share', text)
  const digits = whole.replace(/^0+(?=[0-9])/, '')
  // At most 9 digits are converted, and a power of ten is exact: the product stays far inside a double's integers.
  const units =
    digits.length > unit.wholeDigits
      ? Number.POSITIVE_INFINITY
      : Number(digits + fraction) * 10 ** (SHARE_DECIMALS - decimals)
  if (units < 1 || units > SHARE_SUM_MAX_UNITS) return refuse(unit.range, 'share', text)
  return { units, decimals: Math.max(0, decimals) }
}
