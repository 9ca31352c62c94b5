const SEOUL = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Seoul', year: 'numeric', month: '2-digit' })

/**
 * The settlement month of a moment: that of the moment in Seoul, less `monthsBack`. The text is UTC (10:00 on 1 March in
 * Seoul is 1 March 01:00Z, but 02:00 is 28 February 17:00Z), so it is converted and never cut. A delivery of the
 * schedule that comes late carries the same scheduled time, and so the same month.
 *
 * @param moment ISO 8601 in UTC, as EventBridge Scheduler gives it
 * @returns `YYYY-MM`
 */
export const monthOf = (moment: string, monthsBack: number): string => {
  const parts = SEOUL.formatToParts(new Date(moment))
  const part = (type: 'year' | 'month'): number => Number(parts.find((each) => each.type === type)?.value)
  const months = part('year') * 12 + part('month') - 1 - monthsBack
  return `${Math.floor(months / 12)}-${String((months % 12) + 1).padStart(2, '0')}`
}
