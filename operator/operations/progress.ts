import type { SliceReport } from '../../functions/contract/reports.ts'
import type { SliceName } from '../../functions/contract/words.ts'

/** One look at a run. */
export type Progress = SliceName & {
  readonly executionArn: string
  readonly status: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED'
  /** The state machine's current state, e.g. `RegisterChunks`; null once it has ended. */
  readonly at: string | null
  /** The newest job, once it is this execution's own. */
  readonly job: SliceReport['jobs'][number] | null
  readonly lock: SliceReport['lock']
  /** Of the phase that runs now, over the last looks, and what is left at that speed. Null where nothing runs. */
  readonly rowsPerS: number | null
  readonly secondsLeft: number | null
  /** Why it failed and what to do about it, in sentences; null while it runs or where it succeeded. */
  readonly failure: { readonly error: string; readonly cause: string; readonly remedy: string } | null
  /** What could not be seen in this look and why; the rest is as it was in the look before. */
  readonly trouble: string | null
  /** What a success came to, e.g. `registered 1600 rows`, `the slice held this source already`. */
  readonly result: string | null
}
