import type { HeldRows } from './manifest.ts'
import type { DistributorFields } from './operations.ts'
import type { JobState, SliceName, SliceStatus, Slot } from './words.ts'

/*
 * What Inspect and Operate answer to the requests of operations.ts. Every time is ISO 8601 in UTC with milliseconds; every
 * sum is exact decimal text with six decimals.
 */

export type Deployment = {
  readonly stage: string
  readonly stateMachineArn: string
  readonly dispatchMachineArn: string
  readonly bucket: string
}

export type SliceLine = {
  readonly distributor: string
  readonly month: string
  readonly job: number
  readonly state: JobState
  readonly status: SliceStatus
  readonly fence: number
  readonly execution: string
  readonly requestedBy: string
  readonly rows: number
  readonly openedAt: string
  readonly registeredAt: string | null
  readonly haltedAt: string | null
  readonly haltError: string | null
}

export type LockReport = {
  /** The execution's name. */
  readonly holder: string
  readonly tokenDigest: string
  /** As Valkey tells it, however long; null: it has no end, so somebody has to unlock it. */
  readonly remainingMs: number | null
  /** The job that carries this token, if any does. */
  readonly job: number | null
}

/** One phase of a job: `map` has one character per chunk in key order, `#` for marked and `.` for not yet. */
export type PhaseReport = {
  readonly chunks: number
  readonly marked: number
  /** Rows of all chunks, and of the marked ones. */
  readonly rows: number
  readonly rowsMarked: number
  readonly lastMarkedAt: string | null
  readonly map: string
}

export type JobReport = {
  readonly job: number
  readonly state: JobState
  /** `closed`: another source took its place before REGISTERED. Only the newest job of a slice can be open. */
  readonly status: SliceStatus | 'closed'
  readonly fence: number
  readonly execution: string
  readonly requestedBy: string
  readonly isUndo: boolean
  readonly source: { readonly digest: string; readonly rows: number; readonly shareSum: string }
  /** What was left out of its file; absent where nothing was. */
  readonly held?: HeldRows
  /** Where its set lies; the job of the active slot is the one that readers see. */
  readonly slot: Slot
  /** Whose locks the switch to its set waits for, in a sentence; null where it does not wait. */
  readonly waitsFor: string | null
  readonly at: {
    readonly created: string
    readonly opened: string
    readonly deleted: string | null
    readonly registering: string | null
    readonly registered: string | null
    readonly withdrawn: string | null
    readonly closed: string | null
  }
  readonly halt: { readonly at: string; readonly error: string; readonly cause: string } | null
  readonly delete: PhaseReport
  readonly register: PhaseReport
}

/** What an undo goes back to. */
type UndoTarget = { readonly job: number; readonly digest: string }

export type SliceReport = {
  readonly distributor: string
  readonly month: string
  /**
   * Newest first, at most SLICE_JOBS_SHOWN; empty where the slice never had a job. One that was asked for by its number
   * is the last, where it is older than these.
   */
  readonly jobs: readonly JobReport[]
  /** The job, perhaps not among these, whose set readers see; null where they see none. */
  readonly active: number | null
  /** The job, perhaps not among these, whose set an undo registers again; null where there is none. */
  readonly undo: UndoTarget | null
  /** `unreachable`: Valkey did not answer. */
  readonly lock: LockReport | null | 'unreachable'
  readonly audit: readonly AuditLine[]
}

export type SliceRows = { readonly rows: number; readonly shareSum: string }

export type SetReport = SliceRows & {
  readonly job: number
  /** What differs first from the staged source, as the end of a sentence; null where every column of every row is equal. */
  readonly difference: string | null
}

export type DistributorLine = DistributorFields & { readonly id: number }

const AUDIT_ACTIONS = [
  'start',
  'resume',
  'undo',
  'stop',
  'unlock',
  'withdraw',
  'add-distributor',
  'set-distributor',
  'set-profile',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

export type AuditLine = {
  readonly id: number
  readonly at: string
  readonly caller: string
  readonly action: AuditAction
  readonly distributor: string
  readonly month: string | null
  readonly job: number | null
  readonly execution: string | null
  readonly why: string
  /** What the action was given or did, e.g. the source of a start or the holder of an unlocked lock. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>
}

export type Recorded = { readonly id: number }

export type Stopped = {
  /** False: the job was REGISTERED, closed or halted before, and nothing was changed. */
  readonly halted: boolean
  readonly job: number
  readonly state: JobState
  readonly execution: string
  readonly released: boolean
}

export type Unlocked = {
  /** The open job that was halted, if there was one. */
  readonly job: number | null
  readonly holder: string
  /** False: the lock expired or changed hands in between. */
  readonly released: boolean
}

export type Withdrawn = SliceName & {
  readonly job: number
  /** False: it was withdrawn before, and nothing was changed. */
  readonly withdrawn: boolean
}
