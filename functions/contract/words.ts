/**
 * The vocabulary of Sharelock. Every other file uses these words and no synonyms.
 *
 * - slice: the rows of one distributor in one settlement month; the unit that is replaced.
 * - job: one replacement of a slice; its row in MySQL is the truth about how far it got.
 * - set: the rows that one job registered. slot: one of two places (0, 1) that a slice has; a set lies in one slot.
 * - active: the slot, or the set in it, that readers see; standby: the other slot.
 * - state: DELETING -> DELETED -> REGISTERING -> REGISTERED, one way only.
 * - halt: a job that stopped before REGISTERED; an annotation, not a state; it can be resumed.
 * - lock, token: the Valkey key of a slice and its value, unique per acquisition.
 * - fence: a number MySQL issues each time an execution opens a job; it only grows within a slice.
 * - staged source: the validated, normalised, sorted, content-addressed copy of a file; manifest: its list of chunks.
 * - chunk: a contiguous key range of a slice (delete) or one staged object (register); one transaction.
 * - ledger: the `job_chunk` rows; a mark commits together with its chunk's effect.
 * - lane: one of the parallel workers of a Map state.
 */
export const JOB_STATES = ['DELETING', 'DELETED', 'REGISTERING', 'REGISTERED'] as const
export type JobState = (typeof JOB_STATES)[number]

/** Which half of a job a chunk belongs to. */
const PHASES = ['delete', 'register'] as const
export type Phase = (typeof PHASES)[number]

/** The state in which chunks of a phase may write. */
export const STATE_OF_PHASE = { delete: 'DELETING', register: 'REGISTERING' } as const satisfies Record<Phase, JobState>

/** At-most: the shares of a track and right type sum to at most 100 %; exact: to 100 % within the file's own rounding. */
export const SUM_RULES = ['at-most', 'exact'] as const
export type SumRule = (typeof SUM_RULES)[number]

/**
 * What becomes of a track whose shares exceed 100. Refuse: the file is refused. Hold: the track is left out whole and listed,
 * and the rest of the file is registered.
 */
export const OVER_CLAIMS = ['refuse', 'hold'] as const
export type OverClaim = (typeof OVER_CLAIMS)[number]

/** Opaque: any bounded text identifies a party; ipi: an 11-digit IPI name number with valid check digits. */
export const PARTY_SCHEMES = ['opaque', 'ipi'] as const
export type PartyScheme = (typeof PARTY_SCHEMES)[number]

/** One distributor in one settlement month. */
export type Slice = {
  readonly distributorId: number
  /** The distributor's code, as operators write it. */
  readonly distributor: string
  /** `YYYY-MM`. */
  readonly month: string
}

/** One of the two places that a slice has in share_ratio. */
export type Slot = 0 | 1

/** Where a set lies: what a job writes, and nothing else. */
export type SlotKey = Pick<Slice, 'distributorId' | 'month'> & { readonly slot: Slot }

export const otherSlot = (slot: Slot): Slot => (slot === 0 ? 1 : 0)

/**
 * How a distributor's jobs replace a slice. Standby: a job writes the standby slot, so the month stays readable. In-place: a job
 * writes the active one, so a slice takes half the storage and can't be read meanwhile.
 */
export const REPLACE_MODES = ['standby', 'in-place'] as const
export type ReplaceMode = (typeof REPLACE_MODES)[number]

/** What names a slice outside the database. */
export type SliceName = Pick<Slice, 'distributor' | 'month'>

/** How a slice is named in messages and logs, e.g. `ARIA 2026-10`. */
export const sliceName = (slice: SliceName): string => `${slice.distributor} ${slice.month}`

/** The Valkey key of a slice's lock. The braces keep a slice's keys on one shard. */
export const lockKey = (slice: SliceName): string => `{sharelock:${slice.distributor}:${slice.month}}:lock`

/** MySQL stores a settlement month as its first day. */
export const monthDate = (month: string): string => `${month}-01`

/** The names of the outbox events; consumers deduplicate by the event's id. */
const EVENT_TYPES = ['JobRegistered', 'JobHalted', 'JobWithdrawn'] as const
export type EventType = (typeof EVENT_TYPES)[number]

/**
 * What the newest job makes of a slice. Whether readers see a set meanwhile, and whose, is beside it; the view
 * `slice_status` says both in words.
 */
const SLICE_STATUSES = ['settled', 'being replaced', 'halted', 'withdrawn'] as const
export type SliceStatus = (typeof SLICE_STATUSES)[number]
