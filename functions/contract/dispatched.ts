import { executionNameOf } from './execution.ts'
import type { SeenHead } from './messages.ts'
import type { Slice } from './words.ts'

/*
 * How the dispatch names its executions, and so knows its own jobs again: `<distributor>-<month>-scheduled-<file>`, and
 * behind a job that was there before `-<fence>`. The name is made of what was found, so a month that is dispatched
 * twice means the same names, which Step Functions starts once; another delivery of the file means another one.
 */

/** Who requests what the dispatch starts. */
export const DISPATCHER = 'schedule'

/** Hexadecimal digits that tell two deliveries of a file apart. */
export const FILE_MARK_DIGITS = 12

const FIRST = 'scheduled-'

/** What follows `<distributor>-<month>-` in the name of a dispatched execution. */
export const dispatchedRun = (file: string, head: SeenHead | null): string =>
  head === null ? `${FIRST}${file}` : `${FIRST}${file}-${head.fence}`

/** The mark of the file that a dispatched execution reads; null where somebody else started it. */
export const dispatchedFile = (
  { distributor, month }: Pick<Slice, 'distributor' | 'month'>,
  { execution, requestedBy }: { readonly execution: string; readonly requestedBy: string },
): string | null => {
  const name = executionNameOf(execution)
  const ours = `${distributor}-${month}-${FIRST}`
  if (requestedBy !== DISPATCHER || !name.startsWith(ours)) return null
  return name.slice(ours.length).split('-')[0] ?? null
}
