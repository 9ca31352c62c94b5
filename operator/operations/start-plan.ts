import type { HeldRows } from '../../functions/contract/manifest.ts'
import type { SeenHead } from '../../functions/contract/messages.ts'
import type { SliceReport } from '../../functions/contract/reports.ts'
import type { Rejection } from '../../functions/contract/source-refusals.ts'
import type { Warning, WarningName } from '../../functions/contract/warnings.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import type { Largest } from './changes.ts'

/** Called now and then with the number of rows of a file that have been read. */
export type OnRows = (rows: number) => void

/** What reading a file told. */
export type Validation = {
  readonly accepted: boolean
  /** `ascii`, `utf-8`, `utf-16le`, `utf-16be`, `cp949`; `staged source` where no file was read. */
  readonly encoding: string
  readonly gzip: boolean
  readonly ignoredColumns: readonly string[]
  /** Null where the file is refused. */
  readonly summary: {
    readonly digest: string
    readonly rows: number
    readonly tracks: number
    readonly parties: number
    readonly shareSum: string
    readonly chunks: number
    /** Rows that are left out, since their tracks exceed 100. */
    readonly held?: HeldRows | undefined
  } | null
  readonly rejection: Rejection | null
  /** What is legal and probably a mistake, as far as the file alone tells. */
  readonly warnings: readonly Warning[]
}

/** The new file beside the set of the slice that is read now; every count is of rows. */
export type Difference = {
  /** Null: nothing was ever registered, every row is new. */
  readonly against: { readonly job: number; readonly digest: string; readonly rows: number } | null
  readonly added: number
  readonly removed: number
  /** Same key, another share. */
  readonly changed: number
  readonly unchanged: number
  /**
   * Why the set that is read now cannot be compared: then the counts are those of an empty one. Null where they are
   * true.
   */
  readonly problem: string | null
} & Largest

/** A start that has been looked at and not yet made. Nothing has been uploaded, deleted or started. */
export type StartPlan = SliceName & {
  readonly source: { readonly path: string } | { readonly key: string } | { readonly staged: string }
  /** Where a file of this machine will be uploaded, an address made of its content; null for other sources. */
  readonly uploadKey: string | null
  readonly isUndo: boolean
  readonly validation: Validation
  /** What a start has to confirm, each by its name: the file's warnings, and those that other months give. */
  readonly warnings: readonly Warning[]
  /** A job of this slice had these rows before, so nobody has to confirm their warnings again. */
  readonly wereConfirmed: boolean
  readonly difference: Difference
  /** Rows that will be deleted: all that the slice holds now, no matter who wrote them. */
  readonly rowsToDelete: number
  readonly rowsToRegister: number
  /** What must be typed to go on, e.g. `ARIA 2026-10`; null where the change is below the threshold. */
  readonly confirmation: string | null
  /** The open job of another source that is in the way unless it is closed. */
  readonly blockedBy: SliceReport['jobs'][number] | null
  /** The open job of the same source: starting goes on with it from its state. */
  readonly continues: SliceReport['jobs'][number] | null
  /** A running execution (its ARN) of the same slice and source: starting joins it. */
  readonly joins: string | null
  /** A running execution of the slice with another source: a start is refused, or waits for it. */
  readonly busyWith: string | null
  /** The slice already holds exactly this source: starting changes nothing unless forced. */
  readonly alreadyRegistered: boolean
  /** What is wrong with the staged copy of a source that is registered already; starting its file closes the hole. */
  readonly copyProblem: string | null
  /** The slice's newest job as it was seen; a start is refused where it is another by then. Null: it never had one. */
  readonly head: SeenHead | null
  /**
   * Executions (ARNs) with other sources that work on the slice: a start that waits comes behind these and no others.
   */
  readonly behind: readonly string[]
}

export type StartOptions = {
  readonly supersede?: boolean
  readonly force?: boolean
  /** Wait for a held lock instead of being refused. */
  readonly wait?: boolean
  readonly why?: string | undefined
  /** The warnings that the operator saw and confirms. */
  readonly accept?: readonly WarningName[] | undefined
  /** Refuse a file with warnings. */
  readonly strict?: boolean | undefined
  /** What the operator typed; needed where the plan has a confirmation. */
  readonly confirmation?: string | undefined
}

export type ResumeOptions = Pick<StartOptions, 'wait' | 'why'> & {
  /** The job that the operator saw, and its fence: no other is resumed. */
  readonly seen?: { readonly job: number; readonly fence?: number } | undefined
}

export type Started = {
  readonly executionArn: string
  readonly execution: string
  /** True: it ran already, and nothing new was started. */
  readonly joined: boolean
}
