import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Definition } from '../../../local/engine/definition.ts'
import { startEndpoint } from '../../../local/engine/endpoint.ts'
import { Engine } from '../../../local/engine/engine.ts'
import type { Endpoint } from '../../../local/host/http-server.ts'
import type { Outcome } from '../../../local/lambda/function.ts'

/** The engine behind its endpoint, asked by the real SDK. Its functions are these, by name. */
type Work = (event: Record<string, unknown>) => Promise<unknown> | unknown
let functions: Record<string, Work>
let calls: { name: string; event: Record<string, unknown> }[]
let engine: Engine
let endpoint: Endpoint
let sfn: SFNClient

const invoke = async (name: string, text: string): Promise<Outcome> => {
  const event = JSON.parse(text) as Record<string, unknown>
  calls.push({ name, event })
  try {
    return { payload: JSON.stringify((await functions[name]?.(event)) ?? null) }
  } catch (error) {
    const { name: errorType, message: errorMessage } = error as Error
    return { error: { errorType, errorMessage, trace: [] } }
  }
}

beforeEach(async () => {
  functions = { Echo: (event) => event }
  calls = []
  engine = new Engine({ invoke, publish: async () => 'id' })
  endpoint = await startEndpoint(engine)
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  sfn = new SFNClient({ region: 'ap-northeast-2', endpoint: endpoint.url, credentials, maxAttempts: 1 })
})

afterEach(async () => {
  engine.close()
  sfn.destroy()
  await endpoint.close()
})

const resource = (name: string) => `arn:aws:lambda:ap-northeast-2:000000000000:function:${name}:1`

const task = (name: string, more: object = {}) => ({ Type: 'Task', Resource: resource(name), ...more })
const named = (name: string): Error => Object.assign(new Error(`${name} happened`), { name })

const host = (states: object, startAt = Object.keys(states)[0], more: object = {}): string => {
  const arn = `arn:aws:states:ap-northeast-2:000000000000:stateMachine:M${Math.random().toString(36).slice(2)}`
  engine.host(arn, { StartAt: startAt, States: states, ...more } as Definition)
  return arn
}

const start = (stateMachineArn: string, input: unknown = {}, name?: string) =>
  sfn.send(new StartExecutionCommand({ stateMachineArn, input: JSON.stringify(input), name }))

const finish = async (executionArn: string | undefined) => {
  await engine.execution(executionArn ?? '').ended
  return sfn.send(new DescribeExecutionCommand({ executionArn }))
}

const eventTypes = (executionArn: string | undefined) =>
  engine.execution(executionArn ?? '').history.events.map(({ type }) => type)

const map = (item: object, more: object = {}) => ({
  Type: 'Map',
  ItemsPath: '$.items',
  MaxConcurrency: 2,
  ItemProcessor: { StartAt: 'Item', States: { Item: item } },
  ...more,
})

const items = (count: number) => ({ items: Array.from({ length: count }, (_, index) => ({ index })) })

test('an execution past its timeout is TIMED_OUT and starts nothing more', async () => {
  functions.Work = () => new Promise((resolve) => setTimeout(() => resolve({}), 1_500))
  const machine = host({ Map: map(task('Work', { End: true }), { End: true }) }, 'Map', { TimeoutSeconds: 1 })
  const { executionArn } = await start(machine, items(20))
  expect((await finish(executionArn)).status).toBe('TIMED_OUT')
  await new Promise((resolve) => setTimeout(resolve, 700))
  expect(calls).toHaveLength(2)
})

test('a task past its timeout is retried, and its late answer is not noted down', async () => {
  let attempts = 0
  functions.Work = () =>
    attempts++ === 0 ? new Promise((resolve) => setTimeout(() => resolve({}), 1_300)) : { ok: true }
  engine.pace = { retryMs: 1 }
  const retry = { ErrorEquals: ['States.Timeout'], IntervalSeconds: 60, MaxAttempts: 1 }
  const machine = host({
    Work: task('Work', { TimeoutSeconds: 1, Retry: [retry], Next: 'Wait' }),
    Wait: { Type: 'Wait', Seconds: 1, End: true },
  })
  const { executionArn } = await start(machine)
  expect(await finish(executionArn)).toMatchObject({ status: 'SUCCEEDED', output: '{"ok":true}' })
  const types = eventTypes(executionArn)
  expect(types.filter((type) => type === 'LambdaFunctionTimedOut')).toHaveLength(1)
  expect(types.filter((type) => type === 'LambdaFunctionSucceeded')).toHaveLength(1)
})

test('256 KB is the most a state may pass on, and no Catch helps', async () => {
  functions.Big = ({ bytes }) => 'x'.repeat(Number(bytes))
  const machine = host({
    Big: task('Big', { Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Saved' }], End: true }),
    Saved: { Type: 'Succeed' },
  })
  const fits = await start(machine, { bytes: 262_142 })
  expect((await finish(fits.executionArn)).status).toBe('SUCCEEDED')
  expect(engine.execution(fits.executionArn ?? '').maxPayloadBytes).toBe(262_144)
  const { executionArn } = await start(machine, { bytes: 262_143 })
  expect(await finish(executionArn)).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' })
})

test('timeouts and crashes of a sandbox arrive as Lambda.Unknown', async () => {
  functions.Work = () => {
    throw named('Sandbox.Timedout')
  }
  const { executionArn } = await start(host({ Work: task('Work', { End: true }) }))
  const described = await finish(executionArn)
  expect(described.error).toBe('Lambda.Unknown')
  expect(described.cause).toContain('Sandbox.Timedout happened')
})

test('ResultPath "$" replaces the state, as no ResultPath does', async () => {
  const machine = host({ Echo: task('Echo', { Parameters: { b: 2 }, ResultPath: '$', End: true }) })
  expect((await finish((await start(machine, { a: 1 })).executionArn)).output).toBe('{"b":2}')
})
