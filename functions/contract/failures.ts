import type { JobState } from './words.ts'

/**
 * The only list of failures. A name is the contract between handler, state machine and operator, so it is a literal
 * (bundlers rename classes) and stands in exactly one family:
 *
 * - held: another run holds the slice; wait for it or refuse.
 * - transient: nothing is wrong with the data; retry with backoff.
 * - lost: this execution may no longer write; never retried as it is.
 * - terminal: a person has to look; the job halts, or the request is refused.
 */
export const FAILURE_FAMILIES = {
  LockHeld: 'held',
  LockAwaited: 'held',
  LockTaken: 'held',

  DatabaseUnreachable: 'transient',
  DatabaseBlocked: 'transient',
  DatabaseFull: 'transient',
  DatabaseReadOnly: 'transient',
  DatabaseLoginRefused: 'transient',
  LockUnreachable: 'transient',
  LockRefused: 'transient',
  StorageUnreachable: 'transient',
  OutOfTime: 'transient',
  // Told to what an ended invocation left behind in its sandbox; nobody waits for its answer any more.
  InvocationOver: 'transient',

  LockLost: 'lost',
  StaleFence: 'lost',
  Superseded: 'lost',
  ExecutionEnded: 'lost',

  InvalidInput: 'terminal',
  UnknownDistributor: 'terminal',
  SourceMissing: 'terminal',
  SourceRejected: 'terminal',
  NothingToUndo: 'terminal',
  PlanMoved: 'terminal',
  StagedSourceDamaged: 'terminal',
  JobOpenError: 'terminal',
  ChunkMismatch: 'terminal',
  SliceNotEmpty: 'terminal',
  SliceKeepsFilling: 'terminal',
  SliceMismatch: 'terminal',
  ChunksUnfinished: 'terminal',
  DatabaseMisconfigured: 'terminal',
  DatabaseRefused: 'terminal',
  ConstraintRefused: 'terminal',
  LockMisconfigured: 'terminal',

  // Answers to operators only; no execution meets them.
  UnknownJob: 'terminal',
  NotLocked: 'terminal',
  LockChanged: 'terminal',
  DistributorExists: 'terminal',
} as const

export type FailureName = keyof typeof FAILURE_FAMILIES
export type FailureFamily = (typeof FAILURE_FAMILIES)[FailureName]

/** The names of a family, in the order of the table. */
export const failuresOf = (family: FailureFamily): FailureName[] =>
  (Object.keys(FAILURE_FAMILIES) as FailureName[]).filter((name) => FAILURE_FAMILIES[name] === family)

/** What an operator or a log reader needs to place a failure. */
export type FailureDetails = {
  readonly job?: number | undefined
  readonly fence?: number | undefined
  readonly state?: JobState | undefined
  readonly cause?: unknown
}

/**
 * A failure with a name of the table. The message is a sentence that says what is wrong, where, and what to do.
 * `name` is set from the literal argument, so it survives minification.
 */
export class Failure extends Error {
  override readonly name: FailureName
  readonly job: number | undefined
  readonly fence: number | undefined
  readonly state: JobState | undefined

  constructor(name: FailureName, message: string, details: FailureDetails = {}) {
    const place = [
      details.job === undefined ? undefined : `job ${details.job}`,
      details.fence === undefined ? undefined : `fence ${details.fence}`,
      details.state,
    ].filter((part) => part !== undefined)
    super(place.length === 0 ? message : `${message} (${place.join(', ')})`, { cause: details.cause })
    this.name = name
    this.job = details.job
    this.fence = details.fence
    this.state = details.state
  }
}

/** True where `error` is a failure of the given name, or of any name if none is given. */
export const isFailure = (error: unknown, ...names: FailureName[]): error is Failure =>
  error instanceof Failure && (names.length === 0 || names.includes(error.name))

/** Valkey does not do what it is asked: silent, unwilling, or set up wrong. Only silence may be gone around. */
export const isLockProblem = (error: unknown): error is Failure =>
  isFailure(error, 'LockUnreachable', 'LockRefused', 'LockMisconfigured')

/** The text of anything thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
