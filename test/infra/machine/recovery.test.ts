import { beforeAll, describe, expect, test } from 'vitest'
import { REACQUIRE_MAX } from '../../../functions/contract/limits.ts'
import { WAIT_FOR_TAKEN_LOCK } from '../../../infra/machine/retries.ts'
import { type Definition, definitionOf, jobTemplate } from '../synth.ts'
import { CLOSING, DELETING, execute, fail, failing, HALTING, inputsOf, OPENING, REGISTERING } from './engine.ts'

let definition: Definition
beforeAll(() => {
  definition = definitionOf(jobTemplate())
}, 60_000)

describe('a lost lock', () => {
  test.each([
    'PlanDelete',
    'DeleteChunk',
    'MarkDeleted',
    'BeginRegistering',
    'RegisterChunk',
    'MarkRegistered',
  ] as const)('in %s is acquired anew under a new token, for the job it already has', async (task) => {
    const run = await execute(definition, failing(task, 'LockLost'))
    expect(run.path.at(-1)).toBe('Registered')
    const [first, second] = inputsOf(run, 'OpenJob') as { lock: { token: string }; own: unknown }[]
    expect(first?.own).toBeNull()
    expect(second?.own).toMatchObject({ id: 42, fence: 5 })
    expect(second?.lock.token).not.toBe(first?.lock.token)
    expect(run.output).toMatchObject({ reacquire: { count: 1, failure: { Error: 'LockLost' } } })
    expect(run.output).not.toHaveProperty('failure')
  })

  test('in OpenJob is acquired anew, and the job is opened under the new token', async () => {
    const run = await execute(definition, failing('OpenJob', 'LockLost'))
    expect(run.path.at(-1)).toBe('Registered')
    const [first, second] = inputsOf(run, 'OpenJob') as { lock: { token: string }; own: unknown }[]
    expect(second?.own).toBeNull()
    expect(second?.lock.token).not.toBe(first?.lock.token)
    expect(run.output).toMatchObject({ reacquire: { count: 1, failure: { Error: 'LockLost' } } })
    expect(inputsOf(run, 'HaltJob')).toEqual([])
  })

  test('is acquired anew a bounded number of times', async () => {
    const run = await execute(definition, { PlanDelete: () => fail('LockLost') })
    expect(inputsOf(run, 'AcquireLock')).toHaveLength(1 + REACQUIRE_MAX)
    expect(run.path.slice(-3)).toEqual([...HALTING, 'Halted'])
    expect(run.failure?.error).toBe('LockLost')
  })

  /** The first acquisition goes well; `failures` are what the later ones meet. */
  const meeting = (...failures: string[]) => {
    const left = ['', ...failures]
    return {
      ...failing('DeleteChunk', 'LockLost'),
      AcquireLock: () => {
        const name = left.length > 1 ? left.shift() : left[0]
        return name ? fail(name) : { head: null }
      },
    }
  }

  test('that another run holds by now is waited for with one token, and the job goes on once it is free', async () => {
    const run = await execute(definition, meeting('LockTaken', 'LockTaken', ''))
    expect(run.path.at(-1)).toBe('Registered')
    const [first, ...later] = inputsOf(run, 'AcquireLock') as { lock: { token: string }; own: unknown }[]
    expect(first?.own).toBeNull()
    expect(later.map(({ own }) => own)).toMatchObject(Array(3).fill({ id: 42, fence: 5 }))
    expect(new Set(later.map(({ lock }) => lock.token)).size).toBe(1)
  })

  test('that another run keeps for longer than a lock can last without it halts the own job', async () => {
    const run = await execute(definition, meeting('LockTaken'))
    expect(inputsOf(run, 'AcquireLock')).toHaveLength(2 + WAIT_FOR_TAKEN_LOCK.retriesMax)
    expect(run.path.slice(-5)).toEqual(['AcquireLock', 'RouteHeld', ...HALTING, 'Halted'])
    expect(inputsOf(run, 'HaltJob')).toMatchObject([{ job: { id: 42, fence: 5 } }])
  })
})

describe('a failing job', () => {
  test.each(['StaleFence', 'Superseded', 'ExecutionEnded'])(
    'that meets %s ends as Superseded and is not retried',
    async (name) => {
      const run = await execute(definition, { RegisterChunk: () => fail(name) })
      expect(inputsOf(run, 'RegisterChunk')).toHaveLength(1)
      expect(run.path.slice(-3)).toEqual([...HALTING, 'Superseded'])
      expect(run.failure).toEqual({ error: name, cause: `${name} happened` })
    },
  )

  test('with one chunk that fails for good never comes to MarkDeleted', async () => {
    const run = await execute(definition, {
      DeleteChunk: (input) => ((input as { item: { from: number } }).item.from === 4 ? fail('ChunkMismatch') : {}),
    })
    expect(run.path).not.toContain('MarkDeleted')
    expect(run.path.slice(-3)).toEqual([...HALTING, 'Halted'])
  })

  test('plans again where a stranger inserted rows, and shows it', async () => {
    const run = await execute(definition, failing('MarkDeleted', 'SliceNotEmpty'))
    expect(run.path).toEqual([...OPENING, ...DELETING, ...DELETING, ...REGISTERING, ...CLOSING])
    expect(run.output).toMatchObject({ replan: { Error: 'SliceNotEmpty' } })
  })

  test('shows its own failure even where halting fails too', async () => {
    const run = await execute(definition, {
      ...failing('MarkRegistered', 'SliceMismatch'),
      HaltJob: () => fail('DatabaseUnreachable'),
    })
    expect(run.path.slice(-3)).toEqual([...HALTING, 'Halted'])
    expect(run.failure?.error).toBe('SliceMismatch')
  })

  test('is retried through transient failures, throttling and crashes', async () => {
    const names = [
      'DatabaseUnreachable',
      'OutOfTime',
      'Lambda.TooManyRequestsException',
      'Lambda.Unknown',
      'LockUnreachable',
    ]
    const run = await execute(definition, failing('RegisterChunk', ...names))
    expect(run.path.at(-1)).toBe('Registered')
    expect(inputsOf(run, 'RegisterChunk')).toHaveLength(names.length + 1)
  })
})

describe('a REGISTERED job', () => {
  test('stays a success, and shows what failed after it', async () => {
    const run = await execute(definition, {
      ReleaseLock: () => fail('LockUnreachable'),
      PublishEvents: () => fail('Nope'),
    })
    expect(run.path.slice(-3)).toEqual(CLOSING)
    expect(run.output).toMatchObject({
      job: { state: 'REGISTERED' },
      release: { failure: { Error: 'LockUnreachable' } },
      publish: { failure: { Error: 'Nope' } },
    })
  })
})
