import { Duration } from 'aws-cdk-lib'
import { JitterType, type RetryProps } from 'aws-cdk-lib/aws-stepfunctions'
import { FAILURES, type FailureName, failuresOf } from '../../functions/contract/failure-table.ts'

/** One retrier of a task, in the words and units of this project. Each retrier counts its own attempts. */
export type RetryPolicy = {
  readonly errors: readonly string[]
  readonly intervalS: number
  readonly backoffRate: number
  /** The cap of one delay; absent where the delay never grows. */
  readonly delayMaxS?: number
  readonly retriesMax: number
  /** Full jitter: the delay is drawn between zero and its computed value. */
  readonly jitter: boolean
}

/** The delay before retry `number` (from 1), without jitter: the longest it can be. */
export const delayS = (policy: RetryPolicy, number: number): number =>
  Math.min(policy.intervalS * policy.backoffRate ** (number - 1), policy.delayMaxS ?? Number.POSITIVE_INFINITY)

const TIME_UP = 'OutOfTime' satisfies FailureName
const LOCK_TROUBLE = failuresOf('transient').filter((name) => FAILURES[name].store === 'valkey')
const LOCK_AWAITED = 'LockAwaited' satisfies FailureName
const LOCK_TAKEN = 'LockTaken' satisfies FailureName
const READERS = 'ReadersInTheWay' satisfies FailureName

/**
 * Lambda itself refused or lost the call: our code did not run, or its reply did not arrive. Besides AWS's own list of
 * service errors it names throttling, which a busy account answers with at any time, and a VPC function's sleeping
 * network interfaces, which a monthly run always meets.
 */
export const LAMBDA_ERRORS = [
  'Lambda.ClientExecutionTimeoutException',
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
  'Lambda.TooManyRequestsException',
  'Lambda.ResourceNotReadyException',
  'Lambda.ENINotReadyException',
  'Lambda.EC2ThrottledException',
] as const

/**
 * The function died in mid-work: a timeout or exhausted memory is `Lambda.Unknown` in AWS's documentation, and
 * `Sandbox.Timedout` or `Runtime.ExitError` where Lambda's reply carries an error type of its own; `States.Timeout` is
 * the task's own clock. How far the attempt came is unknown, which is safe to retry only because every task may run twice.
 */
export const CRASH_ERRORS = ['Lambda.Unknown', 'Sandbox.Timedout', 'Runtime.ExitError', 'States.Timeout'] as const

/**
 * A chunk loop that stopped between two chunks because its Lambda's time was nearly up. Nothing is wrong, so it goes on
 * after one second. Each attempt finishes one chunk at least, and an item of the largest planned slice has eight:
 * thirty attempts are an end for a loop that makes no progress, not a limit a working one comes near.
 */
const CONTINUE: RetryPolicy = {
  errors: [TIME_UP],
  intervalS: 1,
  backoffRate: 1,
  retriesMax: 30,
  jitter: false,
}

/**
 * A task whose time was up while it waited for a store: it was slow, and is given a moment. Three attempts more, for each
 * may have taken its task's whole time.
 */
const OUT_OF_TIME: RetryPolicy = {
  errors: [TIME_UP],
  intervalS: 5,
  backoffRate: 2,
  delayMaxS: 20,
  retriesMax: 3,
  jitter: false,
}

/**
 * Valkey out of reach, or refusing for now: a login that is being changed, memory that expiring locks free. A failover
 * takes seconds to about a minute, so 44 s of delays plus six attempts of a few seconds
 * each outlast it; longer would only postpone what the request's onOutage decides. Short, because no chunk extends
 * the lock meanwhile. No jitter: the delays have to add up, and a job's few lanes are no stampede.
 */
const LOCK_OUTAGE: RetryPolicy = {
  errors: LOCK_TROUBLE,
  intervalS: 2,
  backoffRate: 2,
  delayMaxS: 15,
  retriesMax: 5,
  jitter: false,
}

/**
 * MySQL or S3 out of reach. A Multi-AZ failover of RDS takes one to two minutes, a patched instance longer: five minutes
 * in all. One delay stays at 60 s, so that with the slowest chunk it fits into the lock's life. No jitter, as above.
 */
const STORE_OUTAGE: RetryPolicy = {
  errors: failuresOf('transient').filter((name) => ![TIME_UP, READERS, ...LOCK_TROUBLE].includes(name)),
  intervalS: 2,
  backoffRate: 2,
  delayMaxS: 60,
  retriesMax: 9,
  jitter: false,
}

/**
 * Lambda refused or lost the call. Waking sleeping network interfaces takes up to three minutes: eight minutes at most and
 * four on average. Full jitter, because throttling is the account's and every caller comes back at once otherwise.
 */
const LAMBDA_OUTAGE: RetryPolicy = {
  errors: LAMBDA_ERRORS,
  intervalS: 2,
  backoffRate: 2,
  delayMaxS: 60,
  retriesMax: 12,
  jitter: true,
}

/**
 * The function died. Once may be chance (a sandbox lost, a frozen socket); four times running is a defect or a file
 * too large for the memory, and costs a full Lambda timeout every time.
 */
const CRASH: RetryPolicy = {
  errors: CRASH_ERRORS,
  intervalS: 5,
  backoffRate: 2,
  delayMaxS: 30,
  retriesMax: 3,
  jitter: false,
}

/** Staging runs for up to a quarter of an hour, and the same file ends it the same way: one more attempt, not three. */
const STAGE_CRASH: RetryPolicy = { ...CRASH, retriesMax: 1 }
const STAGE_OUT_OF_TIME: RetryPolicy = { ...OUT_OF_TIME, retriesMax: 1 }

/**
 * Another run holds the slice and the request says `wait`. Up to two hours in delays of at most two minutes: a holder
 * needs minutes for the largest slice, and what holds longer wants an operator. Full jitter, since the schedule starts
 * many waiters in the same second. 62 retries are 186 history events. No lock is held while waiting for one.
 */
export const WAIT_FOR_LOCK: RetryPolicy = {
  errors: [LOCK_AWAITED],
  intervalS: 10,
  backoffRate: 2,
  delayMaxS: 120,
  retriesMax: 62,
  jitter: true,
}

/**
 * This run has a job and lost the lock of it, and another holds the key: perhaps one that opened nothing, whose key ends
 * with its TTL. The delays add up to that TTL at least, so they have no jitter. Twenty-one retries are 63 history events.
 */
export const WAIT_FOR_TAKEN_LOCK: RetryPolicy = {
  errors: [LOCK_TAKEN],
  intervalS: 15,
  backoffRate: 1,
  retriesMax: 21,
  jitter: false,
}

/**
 * Halting is the last thing an execution does, and what it leaves undone an operator meets: it is retried for half an
 * hour, through whatever outage made it necessary. Nothing waits for it (the lock expires by itself in minutes),
 * so the delays are long.
 */
export const HALT: RetryPolicy = {
  errors: [...failuresOf('transient'), ...LAMBDA_ERRORS, ...CRASH_ERRORS],
  intervalS: 5,
  backoffRate: 2,
  delayMaxS: 120,
  retriesMax: 20,
  jitter: true,
}

/**
 * Of opening a job in mode in-place, which hides what readers see: about as long as a switch waits. The tasks that switch wait
 * by themselves.
 */
export const WAIT_FOR_READERS: RetryPolicy = {
  errors: [READERS],
  intervalS: 15,
  backoffRate: 1,
  retriesMax: 45,
  jitter: false,
}

/** What every task may be retried for. All tasks may run twice: that is each handler's own promise. */
export const ORDINARY = [OUT_OF_TIME, LOCK_OUTAGE, STORE_OUTAGE, LAMBDA_OUTAGE, CRASH] as const

/** A task that works in a loop between two looks at the clock is continued instead. */
export const CHUNK_LOOP = [CONTINUE, ...ORDINARY.filter((policy) => policy !== OUT_OF_TIME)] as const

export const STAGING = [STAGE_OUT_OF_TIME, LOCK_OUTAGE, STORE_OUTAGE, LAMBDA_OUTAGE, STAGE_CRASH] as const

export const toRetryProps = (policy: RetryPolicy): RetryProps => ({
  errors: [...policy.errors],
  interval: Duration.seconds(policy.intervalS),
  backoffRate: policy.backoffRate,
  maxAttempts: policy.retriesMax,
  jitterStrategy: policy.jitter ? JitterType.FULL : JitterType.NONE,
  ...(policy.delayMaxS === undefined ? {} : { maxDelay: Duration.seconds(policy.delayMaxS) }),
})
