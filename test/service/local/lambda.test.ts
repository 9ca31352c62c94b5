import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Lambda, type LambdaOptions } from '../../../local/lambda/lambda.ts'
import { isRunning, OBEDIENT, until, writeFunction } from './app.ts'

let lambda: Lambda
let logsFolder: string

const open = (options: Partial<LambdaOptions> = {}, timeoutMs = 10_000, code = OBEDIENT, memoryMb = 256): void => {
  lambda = new Lambda({ logsFolder, region: 'ap-northeast-2', ...options })
  lambda.add(writeFunction('Obedient', code, timeoutMs, memoryMb))
}

beforeEach(() => {
  logsFolder = mkdtempSync(join(tmpdir(), 'sharelock-logs-'))
})
afterEach(() => lambda.end())

type Answer = { pid: number; invocations: number; variables: Record<string, string>; [field: string]: unknown }

const ask = (event: object = {}) => lambda.invoke('Obedient', JSON.stringify(event))
const answer = async (event: object = {}): Promise<Answer> => {
  const outcome = await ask(event)
  if ('error' in outcome) throw new Error(outcome.error.errorMessage)
  return JSON.parse(outcome.payload)
}
const errorOf = async (event: object = {}) => {
  const outcome = await ask(event)
  if ('payload' in outcome) throw new Error(`It answered ${outcome.payload}`)
  return outcome.error
}

test('a handler sees its event, its context, and only its own variables', async () => {
  open()
  process.env.SECRET_OF_THE_MACHINE = 'x'
  const seen = await answer({ a: 1 })
  expect(seen).toMatchObject({ event: { a: 1 }, functionName: 'Obedient', memoryLimitInMB: '256' })
  expect(seen.remainingMs).toBeGreaterThan(5_000)
  expect(seen.variables).toMatchObject({ FROM_TEMPLATE: 'yes', AWS_REGION: 'ap-northeast-2' })
  expect(seen.variables.SECRET_OF_THE_MACHINE).toBeUndefined()
  expect(readFileSync(join(logsFolder, 'Obedient.log'), 'utf8')).toContain('"event":{"a":1}')
})

test('a warm sandbox is used again, one invocation at a time', async () => {
  open()
  const first = await answer()
  expect(await answer()).toMatchObject({ pid: first.pid, invocations: 2 })
  const both = await Promise.all([answer({ sleepMs: 100 }), answer({ sleepMs: 100 })])
  expect(new Set(both.map(({ pid }) => pid)).size).toBe(2)
  expect(lambda.sandboxes.map(({ state }) => state)).toEqual(['idle', 'idle'])
})

test('what a handler throws arrives by its name, and the sandbox stays', async () => {
  open()
  const { pid } = await answer()
  expect(await errorOf({ error: 'LockLost' })).toMatchObject({ errorType: 'LockLost', errorMessage: 'on demand' })
  expect((await answer()).pid).toBe(pid)
})

test('an idle sandbox that was killed is replaced unnoticed', async () => {
  open()
  const { pid } = await answer()
  process.kill(pid, 'SIGKILL')
  await until('the sandbox is gone', () => lambda.sandboxes.length === 0)
  expect(await answer()).toMatchObject({ invocations: 1 })
})

test('a sandbox killed in the middle fails its invocation, and the next gets a new one', async () => {
  open()
  const { pid } = await answer()
  const failing = errorOf({ sleepMs: 60_000 })
  await until('it is busy', () => lambda.sandboxes[0]?.state === 'busy')
  process.kill(pid, 'SIGKILL')
  expect(await failing).toMatchObject({
    errorType: 'Runtime.ExitError',
    errorMessage: expect.stringContaining('SIGKILL'),
  })
  expect((await answer()).pid).not.toBe(pid)
})

test('a handler that exits its process fails its invocation', async () => {
  open()
  expect(await errorOf({ exit: 3 })).toMatchObject({
    errorType: 'Runtime.ExitError',
    errorMessage: expect.stringContaining('exit status 3'),
  })
})

test('the timeout kills the sandbox, busy looping or not', async () => {
  open({}, 300)
  const { pid } = await answer()
  expect(await errorOf({ spin: true })).toMatchObject({
    errorType: 'Sandbox.Timedout',
    errorMessage: expect.stringContaining('Task timed out after 0.30 seconds'),
  })
  await until('the sandbox is gone', () => !isRunning(pid))
  expect((await answer()).invocations).toBe(1)
})

test('a frozen sandbox times out and is replaced', async () => {
  open({}, 500)
  const { pid } = await answer()
  process.kill(pid, 'SIGSTOP')
  expect((await errorOf()).errorType).toBe('Sandbox.Timedout')
  expect((await answer()).pid).not.toBe(pid)
  await until('the frozen one is gone', () => !isRunning(pid))
})

test('without the kill a frozen sandbox lives on, abandoned, and goes on when it thaws', async () => {
  open({ killOnTimeout: false }, 500)
  const { pid } = await answer()
  process.kill(pid, 'SIGSTOP')
  expect((await errorOf({ late: true })).errorType).toBe('Sandbox.Timedout')
  expect((await answer()).pid).not.toBe(pid)
  expect(lambda.sandboxes.find((sandbox) => sandbox.pid === pid)?.state).toBe('abandoned')
  process.kill(pid, 'SIGCONT')
  await until('the late handler ran', () =>
    readFileSync(join(logsFolder, 'Obedient.log'), 'utf8').includes('"late":true'),
  )
  await lambda.end()
  expect(isRunning(pid)).toBe(false)
})

test('a bundle that cannot be imported fails each invocation with its error', async () => {
  open({}, 10_000, 'throw new TypeError("no such table")')
  const error = { errorType: 'TypeError', errorMessage: 'no such table' }
  expect(await errorOf()).toMatchObject(error)
  expect(await errorOf()).toMatchObject(error)
})

test('memory beyond the limit ends the sandbox', async () => {
  open(
    {},
    60_000,
    'export const handler = () => { const all = []; for (;;) all.push(new Array(10_000).fill(all)) }',
    128,
  )
  expect((await errorOf()).errorType).toBe('Runtime.ExitError')
})

test('more invocations at once than allowed are throttled', async () => {
  open({ concurrency: 2 })
  const outcomes = await Promise.all([ask({ sleepMs: 300 }), ask({ sleepMs: 300 }), ask()])
  expect(outcomes[2]).toMatchObject({ error: { errorType: 'Lambda.TooManyRequestsException' } })
  expect(outcomes.slice(0, 2).every((outcome) => 'payload' in outcome)).toBe(true)
})

test('an answer beyond 6 MB is an error', async () => {
  open()
  expect((await errorOf({ bytes: 7_000_000 })).errorType).toBe('Function.ResponseSizeTooLarge')
})

test('an asynchronous invocation is tried three times', async () => {
  open()
  let tries = 0
  lambda.onInvoke(() => {
    tries += 1
  })
  lambda.invokeAsync('Obedient', '{"error":"DatabaseUnreachable"}')
  await lambda.settled()
  expect(tries).toBe(3)
})

test('listeners see each invocation before it runs and after it answered', async () => {
  open()
  const seen: string[] = []
  lambda.onInvoke(({ functionName, sandbox }) => {
    seen.push(`${functionName} in ${sandbox.pid}`)
  })
  const stopListening = lambda.onReturn((_, outcome) => {
    seen.push(Object.keys(outcome).join())
  })
  const { pid } = await answer()
  stopListening()
  await answer()
  expect(seen).toEqual([`Obedient in ${pid}`, 'payload', `Obedient in ${pid}`])
})
