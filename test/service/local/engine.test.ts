import {
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import { expect, test } from 'vitest'
import { named, task, useEngine } from './use-engine.ts'

const on = useEngine()
const { calls, finish, functions, host, start } = on

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
  await expect(on.sfn.send(new StartExecutionCommand({ stateMachineArn: machine, input: '{' }))).rejects.toMatchObject({
    name: 'InvalidExecutionInput',
  })
  await expect(start(machine, 'x'.repeat(262_144))).rejects.toMatchObject({ name: 'ValidationException' })
  await expect(on.sfn.send(new DescribeExecutionCommand({ executionArn: 'arn' }))).rejects.toMatchObject({
    name: 'ExecutionDoesNotExist',
  })
})

test('executions are listed newest first, by status and in pages', async () => {
  const machine = host({ Fail: { Type: 'Fail' } })
  const other = host({ Succeed: { Type: 'Succeed' } })
  for (const name of ['a', 'b', 'c']) await finish((await start(machine, {}, name)).executionArn)
  await finish((await start(other)).executionArn)
  const first = await on.sfn.send(new ListExecutionsCommand({ stateMachineArn: machine, maxResults: 2 }))
  expect(first.executions?.map(({ name }) => name)).toEqual(['c', 'b'])
  const { nextToken } = first
  const rest = await on.sfn.send(new ListExecutionsCommand({ stateMachineArn: machine, maxResults: 2, nextToken }))
  expect(rest.executions?.map(({ name }) => name)).toEqual(['a'])
  expect(rest.nextToken).toBeUndefined()
  const running = new ListExecutionsCommand({ stateMachineArn: machine, statusFilter: 'RUNNING' })
  expect((await on.sfn.send(running)).executions).toEqual([])
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
  const { events = [] } = await on.sfn.send(new GetExecutionHistoryCommand({ executionArn }))
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
  const last = await on.sfn.send(new GetExecutionHistoryCommand({ executionArn, reverseOrder: true, maxResults: 1 }))
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
  await on.engine.executions(inner)[0]?.ended
  expect((await finish((await start(outer, { a: 1 })).executionArn)).output).toBe('"was there"')
  expect(on.engine.executions(inner)).toHaveLength(1)
})

test('the definition can be read back', async () => {
  const machine = host({ Succeed: { Type: 'Succeed' } })
  const { definition } = await on.sfn.send(new DescribeStateMachineCommand({ stateMachineArn: machine }))
  expect(JSON.parse(definition ?? '')).toEqual({ StartAt: 'Succeed', States: { Succeed: { Type: 'Succeed' } } })
})
