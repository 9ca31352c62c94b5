import { type Remedy, remedyText } from '../../functions/contract/remedies.ts'

/** Refusals of the operations themselves, by the exit code that the command gives them. */
export const OPERATION_ERRORS = {
  /** Unexpected. */
  Failed: 1,
  /** Wrong arguments or input. */
  Usage: 2,
  /** The file was refused. */
  Rejected: 3,
  /** Somebody else runs, holds the lock, or has an open job. */
  Busy: 4,
  /** The run halted or was overtaken: it did not end REGISTERED. */
  Halted: 5,
  /** A typed confirmation is needed and was not given, or does not match. */
  Unconfirmed: 6,
  /** A service cannot be reached or refuses the caller. */
  Unreachable: 7,
  /** What was asked for does not exist. */
  NotFound: 8,
  /** `doctor` found something. */
  Findings: 9,
  /** What was shown is not so any more: the file, or the slice's newest job. */
  PlanMoved: 10,
} as const
export type OperationErrorName = keyof typeof OPERATION_ERRORS

/** The message says to the operator what is wrong and where, and ends with the remedy where there is one. */
export class OperationError extends Error {
  override readonly name: OperationErrorName

  /** The message without the remedy. */
  readonly sentence: string
  readonly remedy: Remedy | null

  constructor(name: OperationErrorName, sentence: string, cause?: unknown, remedy: Remedy | null = null) {
    super(remedy === null ? sentence : `${sentence} ${remedyText(remedy)}`, { cause })
    this.name = name
    this.sentence = sentence
    this.remedy = remedy
  }
}
