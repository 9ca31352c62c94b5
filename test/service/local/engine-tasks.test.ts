import { expect, test } from 'vitest'
import { items, map, named, task, useEngine } from './use-engine.ts'

const on = useEngine()
const { calls, eventTypes, finish, functions, host, start } = on

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
  on.engine.pace = { retryMs: 1 }
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
  expect(on.engine.execution(fits.executionArn ?? '').maxPayloadBytes).toBe(262_144)
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
