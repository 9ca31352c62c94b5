import type { ShareForm } from '../../../functions/contract/profile.ts'
import type { SeenForm } from '../proposal.ts'
import { NUMBER, type Places } from './columns.ts'
import type { SampleRecord } from './sample.ts'

/** A sum of one track in fractions is about 1; no percentages of a whole track come that low. */
const FRACTION_SUM_MAX = 1.05

const middle = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0

const text = (number: number): string => String(Number(number.toPrecision(6)))

/**
 * How the shares of the rows are written. The unit is told by the largest share and by what the shares of a track come
 * to: a guess, which says what it rests on. Floats are good enough for it.
 */
export const formOfShares = (rows: readonly SampleRecord[], places: Places): SeenForm => {
  const texts = rows.map(({ fields }) => (fields[places.share] ?? '').trim())
  const isNumeric = rows.some(({ kinds }) => kinds?.[places.share] !== undefined && kinds[places.share] !== 'text')
  const decimalSign = !isNumeric && texts.some((share) => /^\d+,\d+$/.test(share)) ? ',' : '.'
  const sums = new Map<string, number>()
  let largest = 0
  rows.forEach(({ fields }, row) => {
    const share = texts[row] ?? ''
    if (!NUMBER.test(share)) return
    const number = Number(share.replace(',', '.'))
    largest = Math.max(largest, number)
    const rightType = places.right_type === undefined ? '' : fields[places.right_type]
    const group = `${fields[places.isrc]} ${rightType}`
    sums.set(group, (sums.get(group) ?? 0) + number)
  })
  const sum = middle([...sums.values()])
  const shareUnit = unitOf(largest, sum)
  return { decimalSign, shareUnit, largest: text(largest), sum: text(sum) }
}

const unitOf = (largest: number, sum: number): ShareForm['shareUnit'] => {
  if (largest > 100) return 'basis-points'
  return largest <= 1 && sum <= FRACTION_SUM_MAX ? 'fraction' : 'percent'
}
