import type { Outcome } from '../../local/lambda/function.ts'
import type { InvocationInfo } from '../../local/lambda/lambda.ts'
import type { TestSlice, TestStack } from './test-stack.ts'

const isOf = (event: unknown, slice: TestSlice | undefined): boolean => {
  const { slice: of } = event as { slice?: TestSlice }
  return slice === undefined || (of?.distributor === slice.distributor && of.month === slice.month)
}

/** The tasks that write to MySQL, in the order of a run. */
export const WRITERS = [
  ...['OpenJob', 'PlanDelete', 'DeleteChunk', 'MarkDeleted', 'BeginRegistering', 'RegisterChunk', 'MarkRegistered'],
] as const

/** Invocations that wait at the door of their function. */
export type Held = { readonly reached: Promise<InvocationInfo>; readonly release: () => void }

/**
 * Holds the next invocations of a task before their sandboxes get the event. `skip` lets as many pass first; `count` are
 * held, one by default, and `reached` when the last of them has come.
 */
export const holdTask = (
  on: TestStack,
  task: string,
  slice?: TestSlice,
  { skip = 0, count = 1 }: { readonly skip?: number; readonly count?: number } = {},
): Held => {
  const { promise: reached, resolve } = Promise.withResolvers<InvocationInfo>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let seen = 0
  const stop = on.stack.lambda.onInvoke(async (invocation) => {
    if (invocation.functionName !== task || !isOf(invocation.event, slice)) return
    seen += 1
    if (seen <= skip) return
    if (seen === skip + count) {
      stop()
      resolve(invocation)
    }
    await released
  })
  return { reached, release }
}

/** Does something when the slice's run comes to a task, which begins after it. Once. */
export const beforeTask = (on: TestStack, task: string, slice: TestSlice, act: () => Promise<void>): void => {
  const stop = on.stack.lambda.onInvoke(async ({ functionName, event }) => {
    if (functionName !== task || !isOf(event, slice)) return
    stop()
    await act()
  })
}

/** Waits for what has to happen in a run; fails at once where the run ends without it. */
export const within = async <T>(on: TestStack, execution: string, what: Promise<T>): Promise<T> => {
  const ended = on.stack.engine.execution(execution).ended.then(() => on.ended(execution))
  const tooEarly = ended.then(({ status, error, cause }) => {
    throw new Error(`The run ended first: ${status} ${error ?? ''} ${cause}`)
  })
  tooEarly.catch(() => undefined)
  return await Promise.race([what, tooEarly])
}

/** The answer of the sandbox to what it serves now, whether or not anybody waits for it any more. */
export const answerOf = (on: TestStack, pid: number): Promise<string> => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const sandbox = on.stack.lambda.sandboxes.find((one) => one.pid === pid)
  if (sandbox === undefined) throw new Error(`There is no sandbox with pid ${pid}`)
  sandbox.onAnswer((outcome) => resolve(verdictOf(outcome)))
  return promise
}

/** An error's name, or the payload. */
const verdictOf = (outcome: Outcome): string => ('error' in outcome ? outcome.error.errorType : outcome.payload)

/** One call of a function by the engine. */
export type Call = { readonly task: string; readonly event: unknown }

/** Writes down every call for a slice. */
export const recordCalls = (on: TestStack, slice: TestSlice): { calls: Call[]; stop: () => void } => {
  const calls: Call[] = []
  const stop = on.stack.lambda.onInvoke(({ functionName, event }) => {
    const { request } = event as { request?: TestSlice }
    if (isOf(event, slice) || request?.distributor === slice.distributor) calls.push({ task: functionName, event })
  })
  return { calls, stop }
}

/** Calls a function as a duplicate delivery would. */
export const callAgain = async (on: TestStack, { task, event }: Call): Promise<string> =>
  verdictOf(await on.stack.lambda.invoke(task, JSON.stringify(event)))

export const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms))
