import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LOCAL } from '../host/paths.ts'
import { type LambdaFunction, type Outcome, SYNC_PAYLOAD_BYTES_MAX } from './function.ts'
import { Sandbox } from './sandbox.ts'

/** What a test sees of an invocation; `sandbox.pid` is the process to kill or stop. */
export type InvocationInfo = {
  readonly functionName: string
  readonly requestId: string
  readonly event: unknown
  readonly sandbox: Sandbox
}

/** Awaited: an invocation goes on when the listener is done. */
export type InvokeListener = (invocation: InvocationInfo) => void | Promise<void>
export type ReturnListener = (invocation: InvocationInfo, outcome: Outcome) => void | Promise<void>

export type LambdaOptions = {
  readonly logsFolder: string
  readonly region: string
  /** Where Node keeps what it has compiled. */
  readonly compileCache?: string | undefined
  /** Sandboxes of one function that serve at once; more are throttled. */
  readonly concurrency?: number | undefined
  /** False: a sandbox past its timeout is abandoned and lives on, as a frozen one in AWS may. */
  readonly killOnTimeout?: boolean | undefined
  /** More options for the Node of each sandbox, asked for as it starts. */
  readonly nodeOptions?: (() => readonly string[]) | undefined
}

const CONCURRENCY = 50

/** Retries of an asynchronous invocation, as in AWS, but without its minutes in between. */
const ASYNC_RETRIES = 2
const ASYNC_RETRY_DELAY_MS = 200

/** The functions of a stack and their sandboxes: a local replacement of the Lambda service. */
export class Lambda {
  killOnTimeout: boolean
  /** The time of a function, ms, where a test cuts it short. */
  readonly timeLimits = new Map<string, number>()
  readonly #options: LambdaOptions
  readonly #functions = new Map<string, LambdaFunction>()
  readonly #sandboxes = new Set<Sandbox>()
  readonly #invokeListeners = new Set<InvokeListener>()
  readonly #returnListeners = new Set<ReturnListener>()
  readonly #background = new Set<Promise<void>>()
  #ended = false

  constructor(options: LambdaOptions) {
    this.#options = options
    this.killOnTimeout = options.killOnTimeout ?? true
  }

  add(fn: LambdaFunction): void {
    this.#functions.set(fn.name, fn)
  }

  get functionNames(): string[] {
    return [...this.#functions.keys()]
  }

  /** The sandboxes that live, abandoned ones included. */
  get sandboxes(): Sandbox[] {
    return [...this.#sandboxes].filter((sandbox) => sandbox.state !== 'ended')
  }

  /** Called when a sandbox is chosen and before it gets the event. Returns how to stop listening. */
  onInvoke(listener: InvokeListener): () => void {
    this.#invokeListeners.add(listener)
    return () => this.#invokeListeners.delete(listener)
  }

  /** Called when a sandbox has answered (or failed to) and before the caller learns of it. */
  onReturn(listener: ReturnListener): () => void {
    this.#returnListeners.add(listener)
    return () => this.#returnListeners.delete(listener)
  }

  /** A synchronous invocation with its event as JSON text; never rejects for what the function does. */
  async invoke(functionName: string, event: string): Promise<Outcome> {
    const fn = this.#functions.get(functionName)
    if (fn === undefined) throw new Error(`There is no function ${functionName}`)
    if (this.#ended) return { error: { errorType: 'Lambda.ServiceException', errorMessage: 'The stack has stopped' } }
    const sandbox = this.#take(fn)
    if (sandbox === undefined)
      return { error: { errorType: 'Lambda.TooManyRequestsException', errorMessage: 'Rate Exceeded.' } }
    const requestId = randomUUID()
    const info = { functionName, requestId, event: JSON.parse(event) as unknown, sandbox }
    for (const listener of this.#invokeListeners) await listener(info)
    const timeoutMs = this.timeLimits.get(functionName)
    const outcome = limited(await sandbox.invoke({ requestId, event }, this.killOnTimeout, timeoutMs))
    for (const listener of this.#returnListeners) await listener(info, outcome)
    return outcome
  }

  /** An asynchronous invocation, retried as Lambda does. `settled` waits for it. */
  invokeAsync(functionName: string, event: string): void {
    const work = (async () => {
      for (let attempt = 0; attempt <= ASYNC_RETRIES && !this.#ended; attempt++) {
        if (attempt > 0) await sleep(ASYNC_RETRY_DELAY_MS)
        if ('payload' in (await this.invoke(functionName, event))) return
      }
    })()
    this.#background.add(work)
    void work.finally(() => this.#background.delete(work))
  }

  /** Resolves when no asynchronous invocation is under way. */
  async settled(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background)
  }

  /** Ends every sandbox, abandoned ones included. */
  async end(): Promise<void> {
    this.#ended = true
    await Promise.all(this.sandboxes.map((sandbox) => sandbox.end()))
    this.#sandboxes.clear()
  }

  /** The sandbox used last is the warmest: it is taken first, as in AWS. */
  #take(fn: LambdaFunction): Sandbox | undefined {
    for (const sandbox of this.#sandboxes) if (sandbox.state === 'ended') this.#sandboxes.delete(sandbox)
    const own = [...this.#sandboxes].filter((sandbox) => sandbox.fn === fn && sandbox.state !== 'abandoned')
    const idle = own.filter((sandbox) => sandbox.state === 'idle').at(-1)
    if (idle === undefined && own.length >= (this.#options.concurrency ?? CONCURRENCY)) return undefined
    const logFile = join(this.#options.logsFolder, `${fn.name}.log`)
    const sandbox = idle ?? new Sandbox(fn, this.#environmentOf(fn), logFile, this.#options.nodeOptions?.())
    // Reserved at once: two invocations in one tick must not take the same one.
    if (idle !== undefined) idle.state = 'busy'
    this.#sandboxes.delete(sandbox)
    this.#sandboxes.add(sandbox)
    return sandbox
  }

  /** As in AWS a function sees its own variables and Lambda's, and nothing of the machine's. */
  #environmentOf(fn: LambdaFunction): Record<string, string> {
    return {
      PATH: process.env.PATH ?? '',
      TZ: 'UTC',
      // Saves each cold start from compiling the same bundle again: 0.1-0.2 s.
      NODE_COMPILE_CACHE: this.#options.compileCache ?? join(LOCAL, 'compile-cache', 'other'),
      AWS_REGION: this.#options.region,
      AWS_DEFAULT_REGION: this.#options.region,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local-secret-access-key',
      AWS_LAMBDA_FUNCTION_NAME: fn.name,
      AWS_LAMBDA_FUNCTION_VERSION: '1',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(fn.memoryMb),
      LAMBDA_TASK_ROOT: fn.codeFolder,
      SHARELOCK_LOCAL_FUNCTION_ARN: fn.arn,
      ...fn.environment,
    }
  }
}

const limited = (outcome: Outcome): Outcome => {
  if ('error' in outcome || Buffer.byteLength(outcome.payload) <= SYNC_PAYLOAD_BYTES_MAX) return outcome
  return {
    error: {
      errorType: 'Function.ResponseSizeTooLarge',
      errorMessage: `Response payload size exceeded maximum allowed payload size (${SYNC_PAYLOAD_BYTES_MAX} bytes).`,
    },
  }
}
