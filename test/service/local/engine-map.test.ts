import { StopExecutionCommand } from '@aws-sdk/client-sfn'
import { expect, test } from 'vitest'
import type { StatusEvent } from '../../../local/engine/status-event.ts'
import { until } from './app.ts'
import { items, map, named, task, useEngine } from './use-engine.ts'

const on = useEngine()
const { calls, eventTypes, finish, functions, host, start } = on

test('a stopped execution starts none of its queued Map items, and tells who listens', async () => {
  const release = Promise.withResolvers<void>()
  functions.Work = () => release.promise
  const heard: StatusEvent[] = []
  on.engine.onStatusEvent((event) => heard.push(event))
  const { executionArn } = await start(host({ Map: map(task('Work', { End: true }), { End: true }) }), items(50))
  await until('two items run', () => calls.length === 2)
  await on.sfn.send(new StopExecutionCommand({ executionArn, error: 'Operator', cause: 'enough' }))
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
