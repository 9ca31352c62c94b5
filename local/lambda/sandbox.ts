import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { unwatchProcess, watchProcess } from '../servers/watchdog-client.ts'
import type { FunctionError, Invocation, LambdaFunction, Outcome, SandboxMessage } from './function.ts'

export type SandboxState = 'starting' | 'idle' | 'busy' | 'abandoned' | 'ended'

/** Node's heap is not all of a sandbox's memory; AWS's runtime leaves about a tenth as well. */
const HEAP_SHARE = 0.9

/** Importing a bundle takes 0.2 s; a sandbox that was stopped meanwhile must not hold its caller for ever. */
const INIT_TIMEOUT_MS = 30_000

/** An answer that was given in time is heard: on a busy machine it takes a moment from one process to the other. */
const ANSWER_GRACE_MS = 250

const exitError = (requestId: string, code: number | null, signal: NodeJS.Signals | null): FunctionError => ({
  errorType: 'Runtime.ExitError',
  errorMessage:
    `RequestId: ${requestId} Error: Runtime exited with error: ` +
    (signal === null ? `exit status ${code}` : `signal: ${signal}`),
})

/** The bundle's file and the export in it, looked for as Lambda's runtime does. */
const entryOf = (fn: LambdaFunction): [file: string, exportName: string] => {
  const dot = fn.handler.lastIndexOf('.')
  const base = join(fn.codeFolder, fn.handler.slice(0, dot))
  const file = ['.mjs', '.js', '.cjs'].map((extension) => base + extension).find((path) => existsSync(path))
  if (file === undefined) throw new Error(`The bundle of ${fn.name} is missing: there is no ${base}.mjs`)
  return [file, fn.handler.slice(dot + 1)]
}

/**
 * One child process that serves one function, one invocation at a time. It may be killed or stopped from outside at any
 * moment, as AWS's may: an ordinary process with a pid.
 */
export class Sandbox {
  readonly fn: LambdaFunction
  readonly pid: number
  state: SandboxState = 'starting'
  /** Of the invocation it serves, or was serving when it was abandoned. */
  requestId: string | undefined
  invocations = 0
  readonly #child: ChildProcess
  readonly #ready: Promise<void>
  readonly #exited: Promise<void>
  #answer: ((outcome: Outcome) => void) | undefined
  #timeOut: (() => void) | undefined

  constructor(
    fn: LambdaFunction,
    environment: Record<string, string>,
    logFile: string,
    nodeOptions: readonly string[] = [],
  ) {
    this.fn = fn
    mkdirSync(dirname(logFile), { recursive: true })
    const log = openSync(logFile, 'a')
    this.#child = fork(join(import.meta.dirname, 'runtime.ts'), entryOf(fn), {
      cwd: fn.codeFolder,
      env: environment,
      execArgv: [`--max-old-space-size=${Math.floor(fn.memoryMb * HEAP_SHARE)}`, ...nodeOptions],
      stdio: ['ignore', log, log, 'ipc'],
    })
    closeSync(log)
    if (this.#child.pid === undefined) throw new Error(`No sandbox for ${fn.name}: the process does not start`)
    this.pid = this.#child.pid
    watchProcess(this.pid)
    this.#ready = this.#whenReady()
    // Who invokes awaits it; a sandbox that fails before anybody does must not end the process.
    this.#ready.catch(() => undefined)
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => {
        this.state = 'ended'
        unwatchProcess(this.pid)
        this.#answer?.({ error: exitError(this.requestId ?? '', code, signal) })
        resolve()
      })
    })
    this.#child.on('error', () => undefined)
    this.#child.on('message', (message: SandboxMessage) => {
      if (message.type === 'answer' && message.requestId === this.requestId) this.#answer?.(message.outcome)
    })
  }

  /** Rejects with a FunctionError when the bundle cannot be imported. */
  #whenReady(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#child.on('message', (message: SandboxMessage) => {
        if (message.type === 'ready') resolve()
        if (message.type === 'initError') reject(message.error)
      })
      this.#child.once('exit', (code, signal) => reject(exitError('', code, signal)))
    })
  }

  /**
   * Serves one invocation; never rejects. `killOnTimeout` false leaves a sandbox that is too slow alive, and abandons it.
   *
   * @param timeoutMs what the function has, or less
   */
  async invoke(
    invocation: Omit<Invocation, 'deadlineMs'>,
    killOnTimeout: boolean,
    timeoutMs: number = this.fn.timeoutMs,
  ): Promise<Outcome> {
    this.requestId = invocation.requestId
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), INIT_TIMEOUT_MS)
    try {
      await this.#ready
    } catch (error) {
      return { error: error as FunctionError }
    } finally {
      clearTimeout(timer)
    }
    if (this.state === 'ended') return { error: exitError(invocation.requestId, this.#child.exitCode, null) }
    this.state = 'busy'
    this.invocations++
    const outcome = await new Promise<Outcome>((resolve) => {
      this.#timeOut = () => {
        clearTimeout(timer)
        this.state = 'abandoned'
        if (killOnTimeout) this.#child.kill('SIGKILL')
        resolve({
          error: {
            errorType: 'Sandbox.Timedout',
            errorMessage:
              `RequestId: ${invocation.requestId} Error: ` +
              `Task timed out after ${(timeoutMs / 1_000).toFixed(2)} seconds`,
          },
        })
      }
      const timer = setTimeout(this.#timeOut, timeoutMs + ANSWER_GRACE_MS)
      this.#answer = (answer) => {
        clearTimeout(timer)
        resolve(answer)
      }
      this.#child.send({ ...invocation, deadlineMs: Date.now() + timeoutMs }, () => undefined)
    })
    this.#answer = undefined
    this.#timeOut = undefined
    if (this.#state() === 'busy') {
      this.state = 'idle'
      this.requestId = undefined
    }
    return outcome
  }

  /** Times the invocation out at once: a test of what a late attempt may still do need not wait for minutes. */
  timeOut(): void {
    this.#timeOut?.()
  }

  /** Hears every answer, those that come after the timeout included. */
  onAnswer(listener: (outcome: Outcome) => void): void {
    this.#child.on('message', (message: SandboxMessage) => {
      if (message.type === 'answer') listener(message.outcome)
    })
  }

  /** TypeScript does not see that the state changes while `invoke` waits. */
  #state(): SandboxState {
    return this.state
  }

  /** SIGKILL also ends a sandbox that is stopped. */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#exited
  }
}
