import { FAILURES, type FailureName, failureNamed } from '../../functions/contract/failure-table.ts'
import { Failure, messageOf } from '../../functions/contract/failures.ts'
import { remedyOf } from '../../functions/contract/remedies.ts'
import { quoted } from '../../functions/contract/visible.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { OperationError, type OperationErrorName } from './operation-error.ts'

/** What AWS calls a caller whom it doesn't know, whose session is over, or who may not do this. */
const REFUSED_CALLER =
  /^(AccessDenied|UnrecognizedClient|ExpiredToken|InvalidClientTokenId|InvalidSignature|IncompleteSignature|AuthFailure|CredentialsProviderError|TokenProviderError|SignatureDoesNotMatch|Forbidden)/

type AwsError = Error & { code?: string; $metadata?: { httpStatusCode?: number } }

/** What the commands of a remedy name where the request named no slice. */
const ANY_SLICE: SliceName = { distributor: 'CODE', month: 'YYYY-MM' }

/**
 * A failure that a function answered with, or that the stores' code threw here. The remedy comes with an answer that no
 * run ends by, and with what is not there; any other is about a run, and is shown where the run's end is.
 */
export const ofFailure = (name: string, message: string, slice = ANY_SLICE, cause?: unknown): OperationError => {
  const { exit, end } = failureNamed(name) ?? { exit: 'Failed', end: undefined }
  const said = exit === 'Failed' ? `${name}: ${message}` : message
  const hasRemedy = end === null || exit === 'NotFound'
  return new OperationError(exit, said, cause, hasRemedy ? remedyOf(name, slice, false) : null)
}

/**
 * A refusal of an operation itself, for the reason that this failure names; its remedy comes with it.
 *
 * @param isOpen whether the slice has an open job
 */
export const refusal = (name: FailureName, sentence: string, slice: SliceName, isOpen = false): OperationError =>
  new OperationError(FAILURES[name].exit, sentence, undefined, remedyOf(name, slice, isOpen))

/**
 * What kind of refusal a failed run is, for anyone who waits for its end.
 *
 * @param isOpen whether the run has a job that is open
 */
export const kindOfEnd = (error: string, isOpen: boolean): OperationErrorName => {
  const { end, exit } = failureNamed(error) ?? { end: null, exit: 'Halted' }
  const kind = end?.[isOpen ? 'later' : 'staging']
  if (kind === 'Rejected') return exit === 'PlanMoved' || exit === 'Unconfirmed' ? exit : 'Rejected'
  return kind === 'Refused' ? exit : 'Halted'
}

const isOutage = ({ name, code, $metadata }: AwsError): boolean => {
  const status = $metadata?.httpStatusCode ?? 0
  return (
    status >= 500 ||
    status === 429 ||
    /^E[A-Z_]+$/.test(code ?? '') ||
    /Timeout|Throttl|SlowDown|TooManyRequests/.test(name)
  )
}

/** A profile that is not there has no region either, and the SDK asks for the region first. */
const regionMissing = ({ AWS_PROFILE } = process.env): string =>
  AWS_PROFILE === undefined
    ? 'No AWS region is set: set AWS_REGION, or a profile with a region.'
    : `The profile ${quoted(AWS_PROFILE)} names no region, or is not there: see which there are with \`aws configure list-profiles\`, or set AWS_REGION.`

/** A connection that failed on several addresses has no message of its own, only a code. */
const textOf = (error: AwsError): string => error.message || error.code || error.name

/**
 * Makes an OperationError of whatever a call threw.
 *
 * @param service who was asked, e.g. `Step Functions`
 */
export const operationError = (error: unknown, service: string): OperationError => {
  if (error instanceof OperationError) return error
  if (error instanceof Failure) return ofFailure(error.name, error.message, undefined, error)
  if (!(error instanceof Error)) return new OperationError('Failed', `${service}: ${messageOf(error)}`, error)
  if (
    /^(RequestTimeTooSkewed|RequestExpired)/.test(error.name) ||
    /Signature (expired|not yet current)/.test(error.message)
  )
    return new OperationError(
      'Unreachable',
      `${service} refuses a request of another time: this computer's clock is off. Set it: sudo timedatectl set-ntp true`,
      error,
    )
  if (
    /profile .*(could not be found|not found|does not exist)|Could not resolve credentials using profile/i.test(
      error.message,
    )
  )
    return new OperationError('Usage', `${textOf(error)} See which there are: aws configure list-profiles`, error)
  if (REFUSED_CALLER.test(error.name) || /resolve AWS credentials|Token is expired/i.test(error.message))
    return new OperationError(
      'Unreachable',
      `${service} refuses you: ${textOf(error)}. Sign in again, or choose the profile of this stage's operators with AWS_PROFILE.`,
      error,
    )
  if (/region is missing/i.test(error.message)) return new OperationError('Usage', regionMissing(), error)
  if (isOutage(error))
    return new OperationError('Unreachable', `${service} cannot be reached: ${textOf(error)}. Try again.`, error)
  return new OperationError('Failed', `${service}: ${error.name}: ${textOf(error)}`, error)
}

/** Runs one call of a service. */
export const calling = async <T>(service: string, call: () => Promise<T>): Promise<T> => {
  try {
    return await call()
  } catch (error) {
    throw operationError(error, service)
  }
}

/** True where asking again may help: an outage, and not a caller who is refused. */
export const isPassing = (error: unknown): boolean =>
  error instanceof OperationError &&
  error.name === 'Unreachable' &&
  !(error.cause instanceof Error && REFUSED_CALLER.test(error.cause.name))
