import { createRequire } from 'node:module'
import { beforeAll, describe, expect, test } from 'vitest'
import { FAILURE_NAMES, failuresOf } from '../../../functions/contract/failure-table.ts'
import {
  EXECUTION_TIMEOUT_S,
  LOCK_TTL_MS,
  STATEMENT_TIMEOUT_MS,
  TASK_MARGIN_S,
} from '../../../functions/contract/limits.ts'
import { TASK_NAMES, TASKS, type TaskName } from '../../../functions/contract/tasks.ts'
import { delayS, LAMBDA_ERRORS, WAIT_FOR_LOCK } from '../../../infra/machine/retries.ts'
import { allStates, type Definition, definitionOf, jobTemplate, type Retrier, type State } from '../synth.ts'

const validate = createRequire(import.meta.url)('asl-validator') as (definition: object) => {
  isValid: boolean
  errorsText: (separator?: string) => string
}

/** Tasks that run while this execution holds the lock of a job it may change. */
const GUARDED = [
  'PlanDelete',
  'DeleteChunk',
  'MarkDeleted',
  'BeginRegistering',
  'RegisterChunk',
  'MarkRegistered',
] as const satisfies TaskName[]

let definition: Definition
let states: Map<string, State>
beforeAll(() => {
  definition = definitionOf(jobTemplate())
  states = allStates(definition)
}, 60_000)

const stateOf = (name: string): State => states.get(name) ?? expect.fail(`there is no state ${name}`)
const retriersOf = (name: string): readonly Retrier[] => stateOf(name).Retry ?? []
const retried = (name: string): string[] => retriersOf(name).flatMap(({ ErrorEquals }) => ErrorEquals)
const longestS = ({ IntervalSeconds, BackoffRate, MaxAttempts, MaxDelaySeconds }: Retrier): number =>
  Math.min(IntervalSeconds * BackoffRate ** (MaxAttempts - 1), MaxDelaySeconds ?? Number.POSITIVE_INFINITY)

/** Where an error of a task goes: its own Catch, or that of the Map around it. */
const caughtBy = (task: TaskName, error: string): string | undefined => {
  const map = [...states.values()].find((state) => state.ItemProcessor?.States[task] !== undefined)
  const catchers = (map ?? stateOf(task)).Catch ?? []
  return catchers.find(({ ErrorEquals }) => ErrorEquals.includes(error) || ErrorEquals.includes('States.ALL'))?.Next
}

describe('the definition', () => {
  test('is valid Amazon States Language', () => {
    const { isValid, errorsText } = validate(structuredClone(definition))
    expect(isValid, errorsText('\n')).toBe(true)
  })

  test('uses nothing that the local engine ignores', () => {
    const text = JSON.stringify(definition)
    for (const field of [
      'QueryLanguage',
      'Arguments',
      'Output',
      'Assign',
      'HeartbeatSeconds',
      'ItemReader',
      'ResultWriter',
    ])
      expect(text).not.toContain(`"${field}":`)
    expect(text).not.toContain('{%')
    for (const state of states.values())
      if (state.Type === 'Map') expect(state.ItemProcessor?.ProcessorConfig.Mode).toBe('INLINE')
  })

  test('has one state for every task and calls its version', () => {
    const tasks = [...states].filter(([, { Type }]) => Type === 'Task').map(([name]) => name)
    expect(tasks.toSorted()).toEqual(TASK_NAMES.toSorted())
    for (const task of TASK_NAMES)
      expect(stateOf(task).Resource).toMatch(new RegExp(`:Functions${task}CurrentVersion\\w+$`))
  })

  test('ends after the time of a whole execution', () => {
    expect(definition.TimeoutSeconds).toBe(EXECUTION_TIMEOUT_S)
  })
})

describe('every task', () => {
  test.each(TASK_NAMES)('%s has a clock longer than its Lambda, retries and a catch of everything', (task) => {
    expect(stateOf(task).TimeoutSeconds).toBe(TASKS[task].lambdaTimeoutS + TASK_MARGIN_S)
    expect(retriersOf(task).length).toBeGreaterThan(0)
    expect(caughtBy(task, 'AnythingElse')).toBeDefined()
  })

  test.each(TASK_NAMES)('%s is retried for each transient failure, throttling and sleeping interfaces', (task) => {
    // Readers are in the way of the tasks that switch, which count their own patience, and of OpenJob in mode in-place.
    const retriable = failuresOf('transient').filter((name) => name !== 'ReadersInTheWay')
    expect(retried(task).includes('ReadersInTheWay')).toBe(['OpenJob', 'HaltJob'].includes(task))
    expect(retried(task)).toEqual(expect.arrayContaining([...retriable, ...LAMBDA_ERRORS]))
    expect(retried(task)).toEqual(expect.arrayContaining(['Lambda.Unknown', 'States.Timeout']))
  })

  test('a chunk loop that ran out of time goes on at once, every other task a few times after a while', () => {
    for (const task of TASK_NAMES) {
      const retrier = retriersOf(task).find(({ ErrorEquals }) => ErrorEquals.includes('OutOfTime'))
      const isLoop = ['DeleteChunk', 'RegisterChunk', 'ReuseSet', 'MarkRegistered'].includes(task)
      expect(retrier?.IntervalSeconds).toBe(isLoop ? 1 : 5)
      if (!isLoop && task !== 'HaltJob') expect(retrier?.MaxAttempts).toBeLessThanOrEqual(3)
    }
  })

  test.each(TASK_NAMES)('%s is never retried for a lost or terminal failure, nor for whatever comes', (task) => {
    for (const error of [...failuresOf('lost'), ...failuresOf('terminal'), 'States.ALL', 'States.TaskFailed'])
      expect(retried(task)).not.toContain(error)
  })

  test.each(TASK_NAMES)('%s names an error in one retrier at most', (task) => {
    expect(new Set(retried(task)).size).toBe(retried(task).length)
  })
})

describe('every failure of the table', () => {
  test.each(FAILURE_NAMES)('%s is caught by every task', (name) => {
    for (const task of TASK_NAMES) expect(caughtBy(task, name)).toBeDefined()
  })

  test('held: LockAwaited and LockTaken are waited for, LockHeld refuses at once', () => {
    expect(retried('AcquireLock')).toContain('LockAwaited')
    expect(retried('AcquireLock')).toContain('LockTaken')
    expect(TASK_NAMES.flatMap(retried)).not.toContain('LockHeld')
    for (const name of failuresOf('held')) expect(caughtBy('AcquireLock', name)).toBe('RouteHeld')
  })

  test('lost: a lost lock is acquired anew, every other loss ends the execution', () => {
    for (const task of ['OpenJob', ...GUARDED] as const) {
      expect(caughtBy(task, 'LockLost')).toBe('CountReacquire')
      expect(caughtBy(task, 'StaleFence')).toBe('HaltJob')
      expect(caughtBy(task, 'Superseded')).toBe('HaltJob')
      expect(caughtBy(task, 'ExecutionEnded')).toBe('HaltJob')
    }
  })

  test('terminal: a guarded task halts the job, except that a stranger row is planned and deleted again', () => {
    for (const task of GUARDED)
      for (const name of failuresOf('terminal'))
        expect(caughtBy(task, name)).toBe(task === 'MarkDeleted' && name === 'SliceNotEmpty' ? 'PlanDelete' : 'HaltJob')
  })
})

describe('delays', () => {
  test('one delay and the slowest statement fit into the life of the lock', () => {
    for (const task of GUARDED)
      for (const retrier of retriersOf(task))
        expect(longestS(retrier) * 1_000 + STATEMENT_TIMEOUT_MS).toBeLessThan(LOCK_TTL_MS)
  })

  test('waiting for a held lock ends in about two hours and leaves most of the execution to the job', () => {
    const waitedS = Array.from({ length: WAIT_FOR_LOCK.retriesMax }, (_, index) => delayS(WAIT_FOR_LOCK, index + 1))
    const totalS = waitedS.reduce((sum, each) => sum + each, 0)
    expect(totalS).toBeGreaterThan(1.5 * 3_600)
    expect(totalS).toBeLessThan(EXECUTION_TIMEOUT_S / 2)
    const retrier = retriersOf('AcquireLock').find(({ ErrorEquals }) => ErrorEquals.includes('LockAwaited'))
    expect(retrier).toMatchObject({ JitterStrategy: 'FULL', MaxAttempts: WAIT_FOR_LOCK.retriesMax })
  })

  test('a taken lock is waited for through one life of a lock at least, and not for much longer', () => {
    const retrier = retriersOf('AcquireLock').find(({ ErrorEquals }) => ErrorEquals.includes('LockTaken'))
    expect(retrier).toMatchObject({ BackoffRate: 1, JitterStrategy: 'NONE' })
    const waitedMs = (retrier?.MaxAttempts ?? 0) * (retrier?.IntervalSeconds ?? 0) * 1_000
    expect(waitedMs).toBeGreaterThanOrEqual(LOCK_TTL_MS)
    expect(waitedMs).toBeLessThan(1.2 * LOCK_TTL_MS)
  })

  test('sleeping network interfaces are waited for longer than the three minutes they take', () => {
    for (const task of TASK_NAMES) {
      const retrier = retriersOf(task).find(({ ErrorEquals }) => ErrorEquals.includes('Lambda.ENINotReadyException'))
      const delays = Array.from({ length: retrier?.MaxAttempts ?? 0 }, (_, index) =>
        Math.min((retrier?.IntervalSeconds ?? 0) * (retrier?.BackoffRate ?? 0) ** index, retrier?.MaxDelaySeconds ?? 0),
      )
      // Full jitter halves a delay on average.
      expect(delays.reduce((sum, each) => sum + each, 0) / 2).toBeGreaterThan(180)
    }
  })

  test('halting is tried for longer than any other task', () => {
    expect(retriersOf('HaltJob').flatMap(({ MaxAttempts }) => MaxAttempts)).toEqual([20])
    expect(retriersOf('HaltJob').map(longestS)).toEqual([120])
  })
})
