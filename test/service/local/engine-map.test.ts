import { DescribeExecutionCommand, SFNClient, StartExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn'
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

test('small items may add up to a Map output that is too large', async () => {
  functions.Big = () => 'x'.repeat(10_000)
  const machine = host({ Map: map(task('Big', { End: true }), { Next: 'After' }), After: task('Echo', { End: true }) })
  const { executionArn } = await start(machine, items(30))
  expect(await finish(executionArn)).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' })
  expect(calls.some(({ name }) => name === 'Echo')).toBe(false)
})
