import type { Verdict } from './result.ts'

/** The lower of the two middle values, so that it is always a value that was measured. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN
}

/** The smallest value that `share` of all values do not exceed. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? Number.NaN
}

/** Rows per second. */
export const rateOf = (rows: number, ms: number): number => rows / (ms / 1_000)

const NOTHING = '—'

export const whole = (value: number | undefined): string =>
  value === undefined || Number.isNaN(value) ? NOTHING : Math.round(value).toLocaleString('en-US')

export const ratio = (value: number | undefined): string =>
  value === undefined || Number.isNaN(value) ? NOTHING : value.toFixed(2)

/** Milliseconds, with decimals only where they say something. */
export const millis = (value: number | undefined): string =>
  value !== undefined && value < 10 ? value.toFixed(2) : whole(value)

export const atLeast = (target: string, value: number, floor: number, text: string): Verdict => ({
  target: `${target} at least ${floor}`,
  measured: text,
  met: value >= floor,
})

export const atMost = (target: string, value: number, ceiling: number, text: string): Verdict => ({
  target: `${target} at most ${ceiling}`,
  measured: text,
  met: value <= ceiling,
})
