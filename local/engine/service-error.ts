/** An error of the Step Functions API; `name` is what the SDK's error is called. */
export class ServiceError extends Error {
  override readonly name: string

  constructor(name: string, message: string) {
    super(message)
    this.name = name
  }
}

/**
 * An error of a task, as the runner takes it: `name` is matched by Retry and Catch, `message` becomes the Cause.
 * `isRetryable` and `isCatchable` are asked by the runner.
 */
export class TaskError extends Error {
  override readonly name: string
  readonly isRetryable: boolean
  readonly isCatchable: boolean

  constructor(error: string, cause: string, canBeHandled = true) {
    super(cause)
    this.name = error
    this.isRetryable = canBeHandled
    this.isCatchable = canBeHandled
  }
}
