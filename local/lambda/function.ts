/** A Lambda function as the template describes it, with everything resolved to this machine. */
export type LambdaFunction = {
  readonly name: string
  readonly arn: string
  /** The folder of the bundle and `file.export` in it, e.g. `index.handler`. */
  readonly codeFolder: string
  readonly handler: string
  readonly timeoutMs: number
  readonly memoryMb: number
  readonly environment: Readonly<Record<string, string>>
}

/** What Lambda answers with when a handler throws, or cannot. */
export type FunctionError = {
  readonly errorType: string
  readonly errorMessage: string
  readonly trace?: readonly string[]
}

/** The answer to one invocation: JSON text, or the error instead of it. */
export type Outcome = { readonly payload: string } | { readonly error: FunctionError }

/** From the parent to the sandbox. */
export type Invocation = {
  readonly requestId: string
  /** The event as JSON text, as it travels in AWS. */
  readonly event: string
  readonly deadlineMs: number
}

/** From the sandbox to the parent. */
export type SandboxMessage =
  | { readonly type: 'ready' }
  | { readonly type: 'initError'; readonly error: FunctionError }
  | { readonly type: 'answer'; readonly requestId: string; readonly outcome: Outcome }

/** Lambda's limit on a synchronous invocation's payload. */
export const SYNC_PAYLOAD_BYTES_MAX = 6 * 1_024 * 1_024

/**
 * Errors that the sandbox or the service gives in place of the handler. Step Functions knows no type for them and
 * reports `Lambda.Unknown`, so a definition that retries them by their own names would work here only.
 */
export const SANDBOX_ERRORS: readonly string[] = ['Sandbox.Timedout', 'Runtime.ExitError']
