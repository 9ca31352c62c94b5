import { beforeAll, describe, expect, test } from 'vitest'
import { FAILURE_NAMES, FAILURES, type FailureName, failuresEnding } from '../../../functions/contract/failure-table.ts'
import { type Definition, definitionOf, jobTemplate } from '../synth.ts'
import {
  CLOSING,
  DELETING,
  EXECUTION,
  execute,
  fail,
  failing,
  HALTING,
  inputsOf,
  job,
  OPENING,
  REGISTERING,
  REQUEST,
  type Run,
} from './engine.ts'
import { SCHEMAS } from './schemas.ts'

let definition: Definition
beforeAll(() => {
  definition = definitionOf(jobTemplate())
}, 60_000)

const expectInputsAccepted = (run: Run) => {
  for (const { task, input } of run.calls) {
    const { success, error } = SCHEMAS[task].safeParse(input)
    expect(success, `${task}: ${error?.message} in ${JSON.stringify(input)}`).toBe(true)
  }
}

describe('an undisturbed run', () => {
  test('deletes, then registers, then releases, then publishes', async () => {
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

  test('gives every task exactly what its contract takes', async () => {
    expectInputsAccepted(await execute(definition))
    const outage = { ...REQUEST, onOutage: 'proceed' }
    expectInputsAccepted(await execute(definition, failing('AcquireLock', ...Array(6).fill('LockUnreachable')), outage))
    expectInputsAccepted(await execute(definition, failing('OpenJob', 'JobOpenError')))
    expectInputsAccepted(await execute(definition, failing('DeleteChunk', 'LockLost')))
  })

  test('tells OpenJob which life of the execution this is', async () => {
    const run = await execute(definition)
    expect(inputsOf(run, 'OpenJob')).toMatchObject([
      // The engine of this test tells its own time.
      { life: { startedAt: expect.stringMatching(/^20\d\d-\d\d-\d\dT/), redrives: 0 } },
    ])
  })

  test('keeps an absent head and an absent own job as null', async () => {
    const run = await execute(definition, { AcquireLock: () => ({ head: null }) })
    expect(inputsOf(run, 'OpenJob')).toMatchObject([{ head: null, own: null }])
  })

  test.each([
    ['DELETED', [...REGISTERING, ...CLOSING]],
    ['REGISTERING', [...REGISTERING, ...CLOSING]],
    ['REGISTERED', CLOSING],
  ])('continues a job found in %s from there', async (state, rest) => {
    const run = await execute(definition, { OpenJob: () => job(state) })
    expect(run.path).toEqual([...OPENING, ...rest])
  })

  test('goes on over an empty plan', async () => {
    const run = await execute(definition, { PlanDelete: () => ({ chunks: 0, items: [] }) })
    expect(run.path).toEqual([...OPENING, ...DELETING, ...REGISTERING, ...CLOSING])
    expect(inputsOf(run, 'DeleteChunk')).toEqual([])
  })
})

describe('a run that may not begin', () => {
  test.each(failuresEnding('staging', 'Rejected'))('is rejected for %s before anything is locked', async (name) => {
    const run = await execute(definition, failing('StageSource', name))
    expect(run.path).toEqual(['TakeRequest', 'StageSource', 'Rejected'])
    expect(run.failure).toEqual({ error: name, cause: `${name} happened` })
  })

  test('is refused where staging fails for any other reason', async () => {
    const run = await execute(definition, failing('StageSource', 'TypeError'))
    expect(run.path).toEqual(['TakeRequest', 'StageSource', 'Refused'])
    expect(run.failure?.error).toBe('TypeError')
  })

  test.each(['text', 7, true, [[1, 2]]])('reaches its first task even with the input %j', async (input) => {
    const run = await execute(definition, failing('StageSource', 'InvalidInput'), input)
    expect(run.failure?.error).toBe('InvalidInput')
  })

  test('is refused at once by a held lock', async () => {
    const run = await execute(definition, failing('AcquireLock', 'LockHeld'))
    expect(run.path.slice(-3)).toEqual(['AcquireLock', 'RouteHeld', 'Refused'])
    expect(inputsOf(run, 'AcquireLock')).toHaveLength(1)
    expect(run.failure?.error).toBe('LockHeld')
  })

  test('waits for a held lock with one token, and ends when it waited long enough', async () => {
    const waited = await execute(definition, failing('AcquireLock', 'LockAwaited', 'LockAwaited'))
    expect(waited.path.at(-1)).toBe('Registered')
    const tokens = inputsOf(waited, 'AcquireLock').map((input) => JSON.stringify(input))
    expect(tokens).toHaveLength(3)
    expect(new Set(tokens).size).toBe(1)
    const refused = await execute(definition, { AcquireLock: () => fail('LockAwaited') })
    expect(refused.failure?.error).toBe('LockAwaited')
    expect(refused.path.at(-1)).toBe('Refused')
  })

  test.each(['JobOpenError', 'PlanMoved'])('is refused for %s, after its lock was released', async (name) => {
    const run = await execute(definition, failing('OpenJob', name))
    expect(run.path.slice(-4)).toEqual(['OpenJob', ...HALTING, 'Refused'])
    expect(inputsOf(run, 'HaltJob')).toMatchObject([{ job: null, failure: { Error: name } }])
  })

  test('ends as Superseded where another run opened the job first', async () => {
    const run = await execute(definition, failing('OpenJob', 'Superseded'))
    expect(run.path.slice(-4)).toEqual(['OpenJob', ...HALTING, 'Superseded'])
  })
})

describe('every failure of the table', () => {
  const met = FAILURE_NAMES.filter((name) => FAILURES[name].end !== null)
  const endOf = (name: FailureName) => FAILURES[name].end

  test.each(met)('%s in staging ends the execution as the table says', async (name) => {
    const run = await execute(definition, { StageSource: () => fail(name) })
    expect(run.path.at(-1)).toBe(endOf(name)?.staging)
    expect(run.failure?.error).toBe(name)
  })

  test.each(met.filter((name) => FAILURES[name].family !== 'held'))('%s in a later task does too', async (name) => {
    const run = await execute(definition, { PlanDelete: () => fail(name) })
    expect(run.path.at(-1)).toBe(endOf(name)?.later)
    expect(run.failure?.error).toBe(name)
  })

  test('a held slice ends a run without a job as refused, and halts one that lost the lock of its own', async () => {
    for (const name of ['LockHeld', 'LockAwaited'] as const) {
      const run = await execute(definition, { AcquireLock: () => fail(name) })
      expect(run.path.at(-1)).toBe(endOf(name)?.later)
    }
    let acquired = 0
    const taken = await execute(definition, {
      AcquireLock: () => (acquired++ === 0 ? { head: null } : fail('LockTaken')),
      PlanDelete: () => fail('LockLost'),
    })
    expect(taken.path.at(-1)).toBe(endOf('LockTaken')?.later)
  })
})

describe('Valkey out of reach', () => {
  const outage = () => failing('AcquireLock', ...Array<string>(6).fill('LockUnreachable'))

  test('halts by default', async () => {
    const run = await execute(definition, outage())
    expect(run.path.slice(-4)).toEqual(['GiveUpLock', ...HALTING, 'Halted'])
    expect(run.failure?.error).toBe('LockUnreachable')
  })

  test('is gone around under `proceed`: the head is read, the lock counts as not held', async () => {
    const run = await execute(definition, outage(), { ...REQUEST, onOutage: 'proceed' })
    expect(run.path.slice(3, 8)).toEqual(['AcquireLock', 'RouteOutage', 'ProceedWithoutLock', 'ReadHead', 'OpenJob'])
    expect(run.path.at(-1)).toBe('Registered')
    expect(run.output).toMatchObject({ outage: { Error: 'LockUnreachable' } })
    expect(run.output).not.toHaveProperty('failure')
    const [acquired] = inputsOf(run, 'AcquireLock') as { lock: { token: string } }[]
    expect(inputsOf(run, 'OpenJob')).toMatchObject([{ lock: { token: acquired?.lock.token, held: false }, head: null }])
  })

  test.each([
    ['LockRefused', 6],
    ['LockMisconfigured', 1],
  ])('is not what %s says: no run goes around an answer, whatever its policy', async (name, asked) => {
    const request = { ...REQUEST, onOutage: 'proceed' }
    const run = await execute(definition, { AcquireLock: () => fail(name) }, request)
    expect(run.path.slice(-4)).toEqual(['AcquireLock', ...HALTING, 'Halted'])
    expect(inputsOf(run, 'AcquireLock')).toHaveLength(asked)
    expect(run.failure?.error).toBe(name)
  })
})
