import type { InvocationInfo } from '../../local/lambda/lambda.ts'
import type { TestSlice, TestStack } from './stack.ts'

const isOf = (event: unknown, slice: TestSlice | undefined): boolean => {
  const { slice: of } = event as { slice?: TestSlice }
  return slice === undefined || (of?.distributor === slice.distributor && of.month === slice.month)
}

/** An invocation that waits at the door of its function. */
export type Held = { readonly reached: Promise<InvocationInfo>; readonly release: () => void }

/** Holds the next invocation of a task before its sandbox gets the event; `skip` lets as many pass first. */
export const holdTask = (on: TestStack, task: string, slice?: TestSlice, skip = 0): Held => {
  const { promise: reached, resolve } = Promise.withResolvers<InvocationInfo>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let seen = 0
  const stop = on.stack.lambda.onInvoke(async (invocation) => {
    if (invocation.functionName !== task || !isOf(invocation.event, slice)) return
    seen += 1
    if (seen !== skip + 1) return
    stop()
    resolve(invocation)
    await released
  })
  return { reached, release }
}

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

/** Calls a function as the engine or a duplicate delivery would; an error's name, or `ok`. */
export const callAgain = async (on: TestStack, { task, event }: Call): Promise<string> => {
  const outcome = await on.stack.lambda.invoke(task, JSON.stringify(event))
  return 'error' in outcome ? outcome.error.errorType : 'ok'
}

export const pause = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms))

/** Waits until the condition holds; fails naming it when it takes longer. */
export const until = async (what: string, holds: () => boolean | Promise<boolean>, withinMs = 20_000) => {
  const deadline = Date.now() + withinMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}`)
    await pause(20)
  }
}
