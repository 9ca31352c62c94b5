import { addMonths } from '../../../functions/contract/months.ts'

/** Months shown at once. */
export const MONTHS_SHOWN = 6

/** The months up to `last`, newest first: what is looked for is mostly the newest, and it stays in sight on a phone. */
export const monthsUpTo = (last: string): string[] =>
  Array.from({ length: MONTHS_SHOWN }, (_, index) => addMonths(last, -index))
