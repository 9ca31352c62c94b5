import { beforeAll, describe, expect, it } from 'vitest'
import { REACQUIRE_MAX } from '../../functions/contract/limits.ts'
import {
  AcquireLockInput,
  ChunkInput,
  HaltFromCatch,
  OpenJobInput,
  PublishEventsInput,
  ReadHeadInput,
  ReleaseLockInput,
  StageSourceInput,
  TransitionInput,
} from '../../functions/contract/messages.ts'
import type { TaskName } from '../../functions/contract/tasks.ts'
import { REJECTIONS } from '../../infra/machine/opening.ts'
import { EXECUTION, execute, fail, failing, job, REQUEST, type Run } from './engine.ts'
import { type Definition, definitionOf, jobTemplate } from './synth.ts'

let definition: Definition
beforeAll(() => {
  definition = definitionOf(jobTemplate())
})

const OPENING = ['TakeRequest', 'StageSource', 'MintToken', 'AcquireLock', 'OpenJob', 'RouteByState']
const DELETING = ['PlanDelete', 'DeleteChunks', 'MarkDeleted']
const REGISTERING = ['BeginRegistering', 'RegisterChunks', 'MarkRegistered']
const CLOSING = ['ReleaseLock', 'PublishEvents', 'Registered']
const HALTING = ['HaltJob', 'RouteFailure']

const inputsOf = (run: Run, task: TaskName) => run.calls.filter((call) => call.task === task).map(({ input }) => input)

const SCHEMAS = {
  StageSource: StageSourceInput,
  AcquireLock: AcquireLockInput,
  ReadHead: ReadHeadInput,
  OpenJob: OpenJobInput,
  PlanDelete: TransitionInput,
  DeleteChunk: ChunkInput,
  MarkDeleted: TransitionInput,
  BeginRegistering: TransitionInput,
  RegisterChunk: ChunkInput,
  MarkRegistered: TransitionInput,
  ReleaseLock: ReleaseLockInput,
  PublishEvents: PublishEventsInput,
  HaltJob: HaltFromCatch,
} as const

const expectInputsAccepted = (run: Run) => {
  for (const { task, input } of run.calls) {
    const { success, error } = SCHEMAS[task].safeParse(input)
    expect(success, `${task}: ${error?.message} in ${JSON.stringify(input)}`).toBe(true)
  }
}

describe('an undisturbed run', () => {
  it('deletes, then registers, then releases, then publishes', async () => {
    const run = await execute(definition)
    expect(run.path).toEqual([...OPENING, ...DELETING, ...REGISTERING, ...CLOSING])
    expect(run.output).toMatchObject({
      execution: EXECUTION,
      slice: { distributor: 'ARIA' },
      job: { id: 42, state: 'REGISTERED' },
      reacquire: { count: 0 },
      release: { released: true },
      publish: { published: 1, pending: 0 },
    })
    expect(run.output).not.toHaveProperty('failure')
  })

  it('gives every task exactly what its contract takes', async () => {
    expectInputsAccepted(await execute(definition))
    const outage = { ...REQUEST, onOutage: 'proceed' }
    expectInputsAccepted(await execute(definition, failing('AcquireLock', ...Array(6).fill('LockUnreachable')), outage))
    expectInputsAccepted(await execute(definition, failing('OpenJob', 'JobOpenError')))
    expectInputsAccepted(await execute(definition, failing('DeleteChunk', 'LockLost')))
  })

  it('keeps an absent head and an absent own job as null', async () => {
    const run = await execute(definition, { AcquireLock: () => ({ head: null }) })
    expect(inputsOf(run, 'OpenJob')).toMatchObject([{ head: null, own: null }])
  })

  it('gives the token the name of the execution, so a refusal can name the holder', async () => {
    const [input] = inputsOf(await execute(definition), 'AcquireLock')
    expect(input).toMatchObject({
      lock: { token: expect.stringMatching(/^ARIA-2026-10-1\/[0-9a-f-]{36}$/), held: true },
    })
  })

  it.each([
    ['DELETED', [...REGISTERING, ...CLOSING]],
    ['REGISTERING', [...REGISTERING, ...CLOSING]],
    ['REGISTERED', CLOSING],
  ])('continues a job found in %s from there', async (state, rest) => {
    const run = await execute(definition, { OpenJob: () => job(state) })
    expect(run.path).toEqual([...OPENING, ...rest])
  })

  it('goes on over an empty plan', async () => {
    const run = await execute(definition, { PlanDelete: () => ({ chunks: 0, items: [] }) })
    expect(run.path).toEqual([...OPENING, ...DELETING, ...REGISTERING, ...CLOSING])
    expect(inputsOf(run, 'DeleteChunk')).toEqual([])
  })
})

describe('a run that may not begin', () => {
  it.each(REJECTIONS)('is rejected for %s before anything is locked', async (name) => {
    const run = await execute(definition, failing('StageSource', name))
    expect(run.path).toEqual(['TakeRequest', 'StageSource', 'Rejected'])
    expect(run.failure).toEqual({ error: name, cause: `${name} happened` })
  })

  it('is refused where staging fails for any other reason', async () => {
    const run = await execute(definition, failing('StageSource', 'TypeError'))
    expect(run.path).toEqual(['TakeRequest', 'StageSource', 'Refused'])
    expect(run.failure?.error).toBe('TypeError')
  })

  it.each(['text', 7, true, [[1, 2]]])('reaches its first task even with the input %j', async (input) => {
    const run = await execute(definition, failing('StageSource', 'InvalidInput'), input)
    expect(run.failure?.error).toBe('InvalidInput')
  })

  it('is refused at once by a held lock', async () => {
    const run = await execute(definition, failing('AcquireLock', 'LockHeld'))
    expect(run.path.slice(-3)).toEqual(['AcquireLock', 'RouteHeld', 'Refused'])
    expect(inputsOf(run, 'AcquireLock')).toHaveLength(1)
    expect(run.failure?.error).toBe('LockHeld')
  })

  it('waits for a held lock with one token, and ends when it waited long enough', async () => {
    const waited = await execute(definition, failing('AcquireLock', 'LockAwaited', 'LockAwaited'))
    expect(waited.path.at(-1)).toBe('Registered')
    const tokens = inputsOf(waited, 'AcquireLock').map((input) => JSON.stringify(input))
    expect(tokens).toHaveLength(3)
    expect(new Set(tokens).size).toBe(1)
    const refused = await execute(definition, { AcquireLock: () => fail('LockAwaited') })
    expect(refused.failure?.error).toBe('LockAwaited')
    expect(refused.path.at(-1)).toBe('Refused')
  })

  it('is refused by an open job of another source, after its lock was released', async () => {
    const run = await execute(definition, failing('OpenJob', 'JobOpenError'))
    expect(run.path.slice(-4)).toEqual(['OpenJob', ...HALTING, 'Refused'])
    expect(inputsOf(run, 'HaltJob')).toMatchObject([{ job: null, failure: { Error: 'JobOpenError' } }])
  })

  it('ends as superseded where another run opened the job first', async () => {
    const run = await execute(definition, failing('OpenJob', 'Superseded'))
    expect(run.path.slice(-4)).toEqual(['OpenJob', ...HALTING, 'Superseded'])
  })
})

describe('Valkey out of reach', () => {
  const outage = () => failing('AcquireLock', ...Array<string>(6).fill('LockUnreachable'))

  it('halts by default', async () => {
    const run = await execute(definition, outage())
    expect(run.path.slice(-4)).toEqual(['GiveUpLock', ...HALTING, 'Halted'])
    expect(run.failure?.error).toBe('LockUnreachable')
  })

  it('is gone around under `proceed`: the head is read, the lock counts as not held', async () => {
    const run = await execute(definition, outage(), { ...REQUEST, onOutage: 'proceed' })
    expect(run.path.slice(3, 8)).toEqual(['AcquireLock', 'RouteOutage', 'ProceedWithoutLock', 'ReadHead', 'OpenJob'])
    expect(run.path.at(-1)).toBe('Registered')
    expect(run.output).toMatchObject({ outage: { Error: 'LockUnreachable' } })
    expect(run.output).not.toHaveProperty('failure')
    const [acquired] = inputsOf(run, 'AcquireLock') as { lock: { token: string } }[]
    expect(inputsOf(run, 'OpenJob')).toMatchObject([{ lock: { token: acquired?.lock.token, held: false }, head: null }])
  })
})

describe('a lost lock', () => {
  it.each(['PlanDelete', 'DeleteChunk', 'MarkDeleted', 'BeginRegistering', 'RegisterChunk', 'MarkRegistered'] as const)(
    'in %s is acquired anew under a new token, for the job it already has',
    async (task) => {
      const run = await execute(definition, failing(task, 'LockLost'))
      expect(run.path.at(-1)).toBe('Registered')
      const [first, second] = inputsOf(run, 'OpenJob') as { lock: { token: string }; own: unknown }[]
      expect(first?.own).toBeNull()
      expect(second?.own).toMatchObject({ id: 42, fence: 5 })
      expect(second?.lock.token).not.toBe(first?.lock.token)
      expect(run.output).toMatchObject({ reacquire: { count: 1, failure: { Error: 'LockLost' } } })
      expect(run.output).not.toHaveProperty('failure')
    },
  )

  it('is acquired anew a bounded number of times', async () => {
    const run = await execute(definition, { PlanDelete: () => fail('LockLost') })
    expect(inputsOf(run, 'AcquireLock')).toHaveLength(1 + REACQUIRE_MAX)
    expect(run.path.slice(-3)).toEqual([...HALTING, 'Halted'])
    expect(run.failure?.error).toBe('LockLost')
  })

  it('that another run holds by now halts the own job', async () => {
    let calls = 0
    const run = await execute(definition, {
      ...failing('DeleteChunk', 'LockLost'),
      AcquireLock: () => (calls++ === 0 ? { head: null } : fail('LockHeld')),
    })
    expect(run.path.slice(-5)).toEqual(['AcquireLock', 'RouteHeld', ...HALTING, 'Halted'])
    expect(inputsOf(run, 'HaltJob')).toMatchObject([{ job: { id: 42, fence: 5 } }])
  })
})

describe('a failing job', () => {
  it.each(['StaleFence', 'Superseded'])('that meets %s ends as superseded and is not retried', async (name) => {
    const run = await execute(definition, { RegisterChunk: () => fail(name) })
    expect(inputsOf(run, 'RegisterChunk')).toHaveLength(1)
    expect(run.path.slice(-3)).toEqual([...HALTING, 'Superseded'])
    expect(run.failure).toEqual({ error: name, cause: `${name} happened` })
  })

  it('with one chunk that fails for good never comes to MarkDeleted', async () => {
    const run = await execute(definition, {
      DeleteChunk: (input) => ((input as { item: { from: number } }).item.from === 4 ? fail('ChunkMismatch') : {}),
    })
    expect(run.path).not.toContain('MarkDeleted')
    expect(run.path.slice(-3)).toEqual([...HALTING, 'Halted'])
  })

  it('plans again where a stranger inserted rows, and shows it', async () => {
    const run = await execute(definition, failing('MarkDeleted', 'SliceNotEmpty'))
    expect(run.path).toEqual([...OPENING, ...DELETING, ...DELETING, ...REGISTERING, ...CLOSING])
    expect(run.output).toMatchObject({ replan: { Error: 'SliceNotEmpty' } })
  })

  it('shows its own failure even where halting fails too', async () => {
    const run = await execute(definition, {
      ...failing('MarkRegistered', 'SliceMismatch'),
      HaltJob: () => fail('DatabaseUnreachable'),
    })
    expect(run.path.slice(-3)).toEqual([...HALTING, 'Halted'])
    expect(run.failure?.error).toBe('SliceMismatch')
  })

  it('is retried through transient failures, throttling and crashes', async () => {
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
  it('stays a success, and shows what failed after it', async () => {
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
