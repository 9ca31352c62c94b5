import { FAILURES, type FailureName } from './failure-table.ts'
import type { JobState } from './words.ts'

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
  isFailure(error) && FAILURES[error.name].store === 'valkey'

/** The text of anything thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
