import type { DatabaseFacts } from './database-needs.ts'
import type { LockReport, SliceLine } from './reports.ts'
import type { WarnedFile } from './warnings.ts'
import type { EventType } from './words.ts'

/* What Inspect answers to `doctor`, in the forms of reports.ts. */

export type OpenJobCheck = SliceLine & {
  /** Seconds since its last transition or mark. */
  readonly quietS: number
  readonly lock: LockReport | null | 'unreachable'
}

/** An event that was set aside: whose it is, what the topic said last, and when it is tried again. */
export type RefusedEvent = {
  readonly event: string
  readonly type: EventType
  readonly job: number
  readonly distributor: string
  readonly month: string
  readonly attempts: number
  readonly error: string
  readonly nextTryAt: string
}

export type Checks = {
  readonly database: {
    readonly facts: DatabaseFacts
    /** Triggers and foreign keys that other programs have on the rows of a month. */
    readonly foreignRules: readonly { readonly kind: string; readonly name: string; readonly detail: string }[]
    readonly migrationsMissing: readonly string[]
    /** Applied here and unknown to this release. */
    readonly migrationsUnknown: readonly string[]
  }
  /** Why Valkey does not answer; null where it does. */
  readonly lockProblem: string | null
  readonly openJobs: readonly OpenJobCheck[]
  /** Locks of slices whose job does not carry the lock's token. */
  readonly strayLocks: readonly { readonly distributor: string; readonly month: string; readonly lock: LockReport }[]
  /** Events that wait for their turn, and the age of the oldest. */
  readonly unpublished: { readonly events: number; readonly oldestS: number | null }
  /** Events that the topic refuses, the oldest first, at most REFUSED_EVENTS_SHOWN. They hold up no other. */
  readonly refusedEvents: readonly RefusedEvent[]
  /** Files of these months that wait for an operator. */
  readonly warned: readonly WarnedFile[]
  /** Slices of which readers see a set, with its job and what its rows must come to. */
  readonly shown: readonly {
    readonly distributor: string
    readonly month: string
    readonly job: number
    readonly digest: string
    readonly rows: number
    readonly shareSum: string
  }[]
}
