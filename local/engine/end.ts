import { ExecutionError } from 'aws-local-stepfunctions'

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'ABORTED' | 'TIMED_OUT'

export type EndStatus = Exclude<ExecutionStatus, 'RUNNING'>
export type End = { readonly output?: string; readonly error?: string | undefined; readonly cause?: string | undefined }

/** The history's last event. */
export const END_EVENTS = {
  SUCCEEDED: 'ExecutionSucceeded',
  FAILED: 'ExecutionFailed',
  ABORTED: 'ExecutionAborted',
  TIMED_OUT: 'ExecutionTimedOut',
} as const

/** Error and cause of an execution that failed; a Fail state may have given neither. */
export const failureOf = (error: unknown): End => {
  const thrown = error instanceof ExecutionError ? error.cause : error
  if (!(thrown instanceof Error)) return { error: 'States.Runtime', cause: String(thrown) }
  const isUnnamed = thrown.name === 'FailStateError'
  const isUnexplained = thrown.message === 'Execution failed because of a Fail state'
  return { error: isUnnamed ? undefined : thrown.name, cause: isUnexplained ? undefined : thrown.message }
}
