import {
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Definition } from '../../../local/engine/definition.ts'
import { startEndpoint } from '../../../local/engine/endpoint.ts'
import { Engine } from '../../../local/engine/engine.ts'
import type { StatusEvent } from '../../../local/engine/status-event.ts'
import type { Endpoint } from '../../../local/host/http-server.ts'
import type { Outcome } from '../../../local/lambda/function.ts'
import { until } from './app.ts'

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

test('an execution gives its output and says when it ran', async () => {
  const { executionArn, startDate } = await start(host({ Echo: task('Echo', { End: true }) }), { a: 1 }, 'one')
  const described = await finish(executionArn)
  expect(described).toMatchObject({ name: 'one', status: 'SUCCEEDED', input: '{"a":1}', output: '{"a":1}' })
  expect(described.startDate).toEqual(startDate)
  expect(described.stopDate?.getTime()).toBeGreaterThanOrEqual(startDate?.getTime() ?? Number.NaN)
})

test('a name that runs with the same input gives the same execution, any other use of it is refused', async () => {
  const release = Promise.withResolvers<void>()
  functions.Echo = () => release.promise
  const machine = host({ Echo: task('Echo', { End: true }) })
  const first = await start(machine, { a: 1 }, 'month')
  expect(await start(machine, { a: 1 }, 'month')).toMatchObject({ ...first, $metadata: expect.anything() })
  await expect(start(machine, { a: 2 }, 'month')).rejects.toMatchObject({ name: 'ExecutionAlreadyExists' })
  release.resolve()
  await finish(first.executionArn)
  await expect(start(machine, { a: 1 }, 'month')).rejects.toMatchObject({ name: 'ExecutionAlreadyExists' })
  expect(calls).toHaveLength(1)
})

test('wrong requests are refused by the names that AWS gives', async () => {
  const machine = host({ Echo: task('Echo', { End: true }) })
  await expect(start(machine, {}, 'a b')).rejects.toMatchObject({ name: 'InvalidName' })
  await expect(start(machine, {}, 'n'.repeat(81))).rejects.toMatchObject({ name: 'InvalidName' })
  await expect(start(`${machine}x`)).rejects.toMatchObject({ name: 'StateMachineDoesNotExist' })
  await expect(sfn.send(new StartExecutionCommand({ stateMachineArn: machine, input: '{' }))).rejects.toMatchObject({
    name: 'InvalidExecutionInput',
  })
  await expect(start(machine, 'x'.repeat(262_144))).rejects.toMatchObject({ name: 'ValidationException' })
  await expect(sfn.send(new DescribeExecutionCommand({ executionArn: 'arn' }))).rejects.toMatchObject({
    name: 'ExecutionDoesNotExist',
  })
})

test('executions are listed newest first, by status and in pages', async () => {
  const machine = host({ Fail: { Type: 'Fail' } })
  const other = host({ Succeed: { Type: 'Succeed' } })
  for (const name of ['a', 'b', 'c']) await finish((await start(machine, {}, name)).executionArn)
  await finish((await start(other)).executionArn)
  const first = await sfn.send(new ListExecutionsCommand({ stateMachineArn: machine, maxResults: 2 }))
  expect(first.executions?.map(({ name }) => name)).toEqual(['c', 'b'])
  const { nextToken } = first
  const rest = await sfn.send(new ListExecutionsCommand({ stateMachineArn: machine, maxResults: 2, nextToken }))
  expect(rest.executions?.map(({ name }) => name)).toEqual(['a'])
  expect(rest.nextToken).toBeUndefined()
  const running = new ListExecutionsCommand({ stateMachineArn: machine, statusFilter: 'RUNNING' })
  expect((await sfn.send(running)).executions).toEqual([])
})

test('the history names states, calls and failures as AWS does, forwards, backwards and in pages', async () => {
  functions.Break = () => {
    throw named('LockHeld')
  }
  const caught = { ErrorEquals: ['LockHeld'], ResultPath: '$.failure', Next: 'Refused' }
  const machine = host({
    Break: task('Break', { Next: 'Refused', Catch: [caught] }),
    Refused: { Type: 'Fail', ErrorPath: '$.failure.Error', CausePath: '$.failure.Cause' },
  })
  const { executionArn } = await start(machine)
  const described = await finish(executionArn)
  expect(described).toMatchObject({ status: 'FAILED', error: 'LockHeld' })
  expect(JSON.parse(described.cause ?? '')).toMatchObject({ errorType: 'LockHeld', errorMessage: 'LockHeld happened' })
  const { events = [] } = await sfn.send(new GetExecutionHistoryCommand({ executionArn }))
  expect(events.map(({ type }) => type)).toEqual([
    'ExecutionStarted',
    'TaskStateEntered',
    'LambdaFunctionScheduled',
    'LambdaFunctionStarted',
    'LambdaFunctionFailed',
    'TaskStateExited',
    'FailStateEntered',
    'ExecutionFailed',
  ])
  expect(events[1]?.stateEnteredEventDetails).toEqual({ name: 'Break', input: '{}' })
  expect(events[4]?.lambdaFunctionFailedEventDetails?.error).toBe('LockHeld')
  expect(events[7]?.executionFailedEventDetails?.error).toBe('LockHeld')
  const last = await sfn.send(new GetExecutionHistoryCommand({ executionArn, reverseOrder: true, maxResults: 1 }))
  expect(last.events?.map(({ type }) => type)).toEqual(['ExecutionFailed'])
  expect(last.nextToken).toBeDefined()
})

const map = (item: object, more: object = {}) => ({
  Type: 'Map',
  ItemsPath: '$.items',
  MaxConcurrency: 2,
  ItemProcessor: { StartAt: 'Item', States: { Item: item } },
  ...more,
})
const items = (count: number) => ({ items: Array.from({ length: count }, (_, index) => ({ index })) })

test('a stopped execution starts none of its queued Map items, and tells who listens', async () => {
  const release = Promise.withResolvers<void>()
  functions.Work = () => release.promise
  const heard: StatusEvent[] = []
  engine.onStatusEvent((event) => heard.push(event))
  const { executionArn } = await start(host({ Map: map(task('Work', { End: true }), { End: true }) }), items(50))
  await until('two items run', () => calls.length === 2)
  await sfn.send(new StopExecutionCommand({ executionArn, error: 'Operator', cause: 'enough' }))
  expect(await finish(executionArn)).toMatchObject({ status: 'ABORTED', error: 'Operator', cause: 'enough' })
  release.resolve()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(calls).toHaveLength(2)
  expect(eventTypes(executionArn).at(-1)).toBe('ExecutionAborted')
  expect(heard).toHaveLength(1)
  expect(heard[0]).toMatchObject({
    'detail-type': 'Step Functions Execution Status Change',
    source: 'aws.states',
    detail: { executionArn, status: 'ABORTED', error: 'Operator' },
  })
})

test('after an item of a Map failed for good no other starts, while the execution goes on in its Catch', async () => {
  const release = Promise.withResolvers<void>()
  functions.Work = async ({ index }) => {
    // A sibling waits for its retry when the Map fails: the runner would retry it at once.
    if (index === 1) throw named('Transient')
    await new Promise((resolve) => setTimeout(resolve, 100))
    if (index === 0) throw named('ChunkMismatch')
    return {}
  }
  functions.Halt = () => release.promise
  const retry = { ErrorEquals: ['Transient'], IntervalSeconds: 100, MaxAttempts: 1 }
  const machine = host({
    Map: map(task('Work', { Retry: [retry], End: true }), {
      Catch: [{ ErrorEquals: ['States.ALL'], ResultPath: '$.failure', Next: 'Halt' }],
      End: true,
    }),
    Halt: task('Halt', { End: true }),
  })
  const { executionArn } = await start(machine, items(300))
  await until('the Catch runs', () => calls.some(({ name }) => name === 'Halt'))
  release.resolve()
  await finish(executionArn)
  expect(calls.map(({ name, event }) => [name, event.index])).toEqual([
    ['Work', 0],
    ['Work', 1],
    ['Halt', undefined],
  ])
  expect(eventTypes(executionArn).filter((type) => type === 'MapIterationFailed')).toHaveLength(1)
})

test('a Map entered again after it failed runs all its items', async () => {
  let failures = 1
  functions.Work = () => {
    if (failures-- > 0) throw named('LockLost')
    return {}
  }
  const machine = host({
    Map: map(task('Work', { End: true }), {
      Catch: [{ ErrorEquals: ['LockLost'], ResultPath: '$.failure', Next: 'Again' }],
      ResultPath: '$.result',
      End: true,
    }),
    Again: { Type: 'Pass', Next: 'Map' },
  })
  const described = await finish((await start(machine, items(100))).executionArn)
  expect(described.status).toBe('SUCCEEDED')
  // The failing item, perhaps its sibling, and all of them.
  expect(calls.length).toBeGreaterThanOrEqual(101)
  expect(calls.length).toBeLessThanOrEqual(102)
})

test('Map items see the execution they belong to and not themselves', async () => {
  const selected = { 'id.$': '$$.Execution.Id', 'input.$': '$$.Execution.Input', 'n.$': '$$.Map.Item.Index' }
  const inner = task('Echo', {
    Parameters: { 'item.$': '$', 'id.$': '$$.Execution.Id', 'input.$': '$$.Execution.Input' },
    End: true,
  })
  const machine = host({ Map: map(inner, { ItemSelector: selected, End: true }) })
  const { executionArn } = await start(machine, items(2))
  const { output } = await finish(executionArn)
  expect(JSON.parse(output ?? '')).toEqual(
    [0, 1].map((n) => ({ id: executionArn, input: items(2), item: { id: executionArn, input: items(2), n } })),
  )
})

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

test('small items may add up to a Map output that is too large', async () => {
  functions.Big = () => 'x'.repeat(10_000)
  const machine = host({ Map: map(task('Big', { End: true }), { Next: 'After' }), After: task('Echo', { End: true }) })
  const { executionArn } = await start(machine, items(30))
  expect(await finish(executionArn)).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' })
  expect(calls.some(({ name }) => name === 'Echo')).toBe(false)
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

test('a machine starts another under a name once, and learns that it was there', async () => {
  const inner = host({ Echo: task('Echo', { End: true }) })
  const outer = host({
    Start: {
      Type: 'Task',
      Resource: 'arn:aws:states:::states:startExecution',
      Parameters: { StateMachineArn: inner, Name: 'month', 'Input.$': '$' },
      Catch: [{ ErrorEquals: ['StepFunctions.ExecutionAlreadyExistsException'], Next: 'There' }],
      End: true,
    },
    There: { Type: 'Pass', Result: 'was there', End: true },
  })
  const first = await finish((await start(outer, { a: 1 })).executionArn)
  expect(JSON.parse(first.output ?? '')).toMatchObject({ ExecutionArn: expect.stringMatching(/:month$/) })
  await engine.executions(inner)[0]?.ended
  expect((await finish((await start(outer, { a: 1 })).executionArn)).output).toBe('"was there"')
  expect(engine.executions(inner)).toHaveLength(1)
})

test('the definition can be read back', async () => {
  const machine = host({ Succeed: { Type: 'Succeed' } })
  const { definition } = await sfn.send(new DescribeStateMachineCommand({ stateMachineArn: machine }))
  expect(JSON.parse(definition ?? '')).toEqual({ StartAt: 'Succeed', States: { Succeed: { Type: 'Succeed' } } })
})
