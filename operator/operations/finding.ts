import type { Checks } from '../../functions/contract/checks.ts'
import type { SliceName } from '../../functions/contract/words.ts'

/** One disagreement, and the one command that fixes it. */
export type Finding = {
  readonly check: string
  readonly severity: 'error' | 'warning'
  readonly what: string
  /** A whole command line, or a sentence where no command of ours can fix it. */
  readonly remedy: string
  readonly slice: SliceName | null
}

export type Diagnosis = { readonly checks: Checks | null; readonly findings: readonly Finding[] }
