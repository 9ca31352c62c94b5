import { failuresOf } from '../../functions/contract/failure-table.ts'
import { CRASH_ERRORS, LAMBDA_ERRORS, type RetryPolicy } from '../machine/retries.ts'

/**
 * Step Functions itself refused a start. Not among these: ExecutionAlreadyExists, since a name that was used is an answer
 * and not a fault, and the end of a job that was awaited. Full jitter, since the lanes of a dispatch are throttled
 * together.
 */
export const START_OUTAGE: RetryPolicy = {
  errors: [
    'StepFunctions.ThrottlingException',
    'StepFunctions.ExecutionLimitExceededException',
    'StepFunctions.ServiceUnavailableException',
    'StepFunctions.InternalServerException',
    'StepFunctions.SdkClientException',
  ],
  intervalS: 2,
  backoffRate: 2,
  delayMaxS: 60,
  retriesMax: 8,
  jitter: true,
}

/**
 * Planning a month changes nothing, and without a plan nothing of the month starts: it is retried through whatever
 * outage there is, for an hour or so (21 delays of up to five minutes, half of it on average), before it fails.
 */
export const PLANNING: RetryPolicy = {
  errors: [...failuresOf('transient'), ...LAMBDA_ERRORS, ...CRASH_ERRORS],
  intervalS: 5,
  backoffRate: 2,
  delayMaxS: 300,
  retriesMax: 24,
  jitter: true,
}
