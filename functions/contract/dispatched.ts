import { executionNameOf } from './execution.ts'
import type { SeenHead } from './messages.ts'
import type { Slice } from './words.ts'

/*
 * How the dispatch names its executions, and so knows its own jobs again: `<distributor>-<month>-scheduled-<file>`, behind
 * a job that was there before `-<fence>`, and where executions of that name have ended and opened nothing `-try<number>`.
 * The name is made of what was found, so a month that is dispatched twice means the same names, which Step Functions
 * starts once; another delivery of the file means another one.
 */

/** Who requests what the dispatch starts. */
export const DISPATCHER = 'schedule'

/** Hexadecimal digits that tell two deliveries of a file apart. */
export const FILE_MARK_DIGITS = 12

const FIRST = 'scheduled-'

/** What follows `<distributor>-<month>-` in the name of a dispatched execution; `attempt` counts from 1. */
export const dispatchedRun = (file: string, head: SeenHead | null, attempt = 1): string =>
  `${FIRST}${file}${head === null ? '' : `-${head.fence}`}${attempt === 1 ? '' : `-try${attempt}`}`

/** The whole name: the dispatch machine joins the same three. */
export const dispatchedName = (distributor: string, month: string, run: string): string =>
  `${distributor}-${month}-${run}`

/** The tag of the file that a dispatched execution reads; null where somebody else started it. */
export const dispatchedFile = (
  { distributor, month }: Pick<Slice, 'distributor' | 'month'>,
  { execution, requestedBy }: { readonly execution: string; readonly requestedBy: string },
): string | null => {
  const name = executionNameOf(execution)
  const ours = dispatchedName(distributor, month, FIRST)
  if (requestedBy !== DISPATCHER || !name.startsWith(ours)) return null
  return name.slice(ours.length).split('-')[0] ?? null
}
