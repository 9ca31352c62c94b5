import { FAILURES, type FailureName } from './failure-table.ts'
import type { JobState } from './words.ts'

/** The lock that a run met. Its token is not here: whoever knew it could release the lock. */
type LockMet = {
  readonly holder: string
  /** Null: a lock without an end. */
  readonly remainingMs: number | null
}

/**
 * What a failure of some names carries beside its sentence, so that nobody cuts it out of that: plain values, fit for a
 * log as they are, which is where they are read. An execution's failure has its name and its sentence only.
 */
type DataByName = {
  readonly LockHeld: LockMet
  readonly LockAwaited: LockMet
  readonly LockTaken: LockMet
  readonly LockChanged: LockMet
  /** Where MySQL did not take a chunk as it is. */
  readonly ChunkMismatch:
    | { readonly chunk: number; readonly rowsPlanned: number; readonly rowsTaken: number }
    | undefined
  /** What the slice holds beside what the file has; with the same of both, other rows. */
  readonly SliceMismatch: {
    readonly rows: number
    readonly shareSum: string
    readonly fileRows: number
    readonly fileShareSum: string
  }
  /** The job that is open: its source, the execution that opened it, and why it was halted, if it was. */
  readonly JobOpenError: { readonly source: string; readonly openedBy: string; readonly haltedBy: string | null }
  /** The session that was in the way, where it was seen. */
  readonly DatabaseBlocked: { readonly session: number; readonly user: string; readonly host: string } | undefined
}
export type DataOf<Name extends FailureName> = Name extends keyof DataByName ? DataByName[Name] : undefined

/** What an operator or a log reader needs to place a failure. */
type FailurePlace = {
  readonly job?: number | undefined
  readonly fence?: number | undefined
  readonly state?: JobState | undefined
  readonly cause?: unknown
}

/** Its place, and its data: a name that always carries some cannot be made without. */
type Details<Name extends FailureName> =
  undefined extends DataOf<Name>
    ? [details?: FailurePlace & { readonly data?: DataOf<Name> }]
    : [details: FailurePlace & { readonly data: DataOf<Name> }]

/**
 * A failure with a name of the table. The message is a sentence that says what is wrong, where, and what to do.
 * `name` is set from the literal argument, so it survives minification.
 */
export class Failure<Name extends FailureName = FailureName> extends Error {
  override readonly name: Name
  readonly job: number | undefined
  readonly fence: number | undefined
  readonly state: JobState | undefined
  readonly data: DataOf<Name> | undefined

  constructor(name: Name, message: string, ...[details]: Details<Name>) {
    const { job, fence, state, cause, data }: FailurePlace & { readonly data?: DataOf<Name> } = details ?? {}
    const place = [
      job === undefined ? undefined : `job ${job}`,
      fence === undefined ? undefined : `fence ${fence}`,
      state,
    ].filter((part) => part !== undefined)
    super(place.length === 0 ? message : `${message} (${place.join(', ')})`, { cause })
    this.name = name
    this.job = job
    this.fence = fence
    this.state = state
    this.data = data
  }
}

/** True where `error` is a failure of the given name, or of any name if none is given. */
export const isFailure = <Name extends FailureName = FailureName>(
  error: unknown,
  ...names: Name[]
): error is Failure<Name> => error instanceof Failure && (names.length === 0 || names.includes(error.name as Name))

/** Valkey does not do what it is asked: silent, unwilling, or set up wrong. Only silence may be gone around. */
export const isLockProblem = (error: unknown): error is Failure =>
  isFailure(error) && FAILURES[error.name].store === 'valkey'

/** The text of anything thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
