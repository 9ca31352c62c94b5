import { seoulTime } from './seoul-time.ts'
import { SLICE_MONTHS_MAX } from './support-limits.ts'

/* Settlement months, each written as `YYYY-MM`. */

/** Counts months from year 0. */
const monthNumber = (month: string): number => Number(month.slice(0, 4)) * 12 + Number(month.slice(5)) - 1

/** @param months how many later; earlier where it is below 0 */
export const addMonths = (month: string, months: number): string => {
  const number = monthNumber(month) + months
  return `${Math.floor(number / 12)}-${String((number % 12) + 1).padStart(2, '0')}`
}

/** The months from `from` to `to`, both included; none where `to` is before `from`. */
export const monthsFrom = (from: string, to: string): string[] =>
  Array.from({ length: Math.max(0, monthNumber(to) - monthNumber(from) + 1) }, (_, index) => addMonths(from, index))

/** True where `from` to `to` is a range of at most SLICE_MONTHS_MAX months. */
export const isMonthRange = (from: string, to: string): boolean => {
  const span = monthNumber(to) - monthNumber(from)
  return span >= 0 && span < SLICE_MONTHS_MAX
}

/**
 * The month that it is in Seoul at a moment, less `monthsBack`. A delivery of the schedule that comes late carries the
 * same scheduled time, and so the same month.
 *
 * @param moment a Date, or ISO 8601 in UTC, as EventBridge Scheduler gives it
 */
export const monthAt = (moment: Date | string, monthsBack = 0): string =>
  addMonths(seoulTime(moment).slice(0, 7), -monthsBack)

/** The month that it is in Seoul now. */
export const currentMonth = (): string => monthAt(new Date())

/** The month before this one: a month is settled after it has ended. */
export const lastMonth = (): string => monthAt(new Date(), 1)
