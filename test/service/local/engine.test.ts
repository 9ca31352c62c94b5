import {
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
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
