import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FAILURE_NAMES, FAILURES, failureNamed, failuresOf } from '../../../functions/contract/failure-table.ts'
import { Failure, isFailure, isLockProblem, messageOf } from '../../../functions/contract/failures.ts'

describe('the table of failures', () => {
  test('each thrown failure is in exactly one family', () => {
    const listed = (['held', 'transient', 'lost', 'terminal'] as const).flatMap(failuresOf)
    expect(listed.toSorted()).toEqual(FAILURE_NAMES.toSorted())
    expect(failuresOf('ended')).toEqual([])
  })

  test('every thrown name is a single PascalCase word, as Step Functions shows it', () => {
    for (const name of FAILURE_NAMES) expect(name).toMatch(/^([A-Z][a-z]+)+$/)
  })

  test('a name of somebody else has no row, not even one that every object has', () => {
    for (const name of ['Lambda.Unknown', 'constructor', '__proto__', '']) expect(failureNamed(name)).toBeUndefined()
    expect(failureNamed('Stopped')?.family).toBe('ended')
  })

  test('a failure that is waited for or halts a job leaves a way to go on or to start over', () => {
    for (const [name, { end, command }] of Object.entries(FAILURES))
      if (end?.later === 'Halted')
        expect(['goOn', 'start', 'startOver', 'distributors', 'show'], name).toContain(command)
  })

  test('going on is never advised where the rows or their source are wrong', () => {
    for (const name of ['SliceMismatch', 'ChunkMismatch', 'StagedSourceDamaged'] as const)
      expect(FAILURES[name].command, name).not.toBe('goOn')
  })

  test("the operator's page starts over after the same failures as the command", () => {
    const rows = readFileSync('docs/operator.md', 'utf8').split('\n')
    const startOver = rows.filter((row) => row.includes('--supersede --force')).join()
    const named = [...startOver.matchAll(/`([A-Z]\w+)`/g)].map(([, name]) => name)
    const listed = FAILURE_NAMES.filter((name) => FAILURES[name].command === 'startOver')
    expect(named.toSorted()).toEqual(listed.toSorted())
  })
})

describe('a failure', () => {
  test('carries its literal name, its place and its cause', () => {
    const cause = new Error('socket closed')
    const failure = new Failure('StaleFence', 'Another run took over', { job: 7, fence: 3, state: 'DELETING', cause })
    expect(failure.name).toBe('StaleFence')
    expect(failure.message).toBe('Another run took over (job 7, fence 3, DELETING)')
    expect(failure.cause).toBe(cause)
  })

  test('says only what it knows of its place', () => {
    expect(new Failure('InvalidInput', 'No').message).toBe('No')
    expect(new Failure('StaleFence', 'No', { fence: 3 }).message).toBe('No (fence 3)')
    expect(new Failure('ChunksUnfinished', 'No', { job: 7 }).message).toBe('No (job 7)')
  })

  test('is recognised by its name, and nothing else is one', () => {
    const failure = new Failure('LockLost', 'gone')
    expect(isFailure(failure)).toBe(true)
    expect(isFailure(failure, 'StaleFence', 'LockLost')).toBe(true)
    expect(isFailure(failure, 'StaleFence')).toBe(false)
    expect(isFailure(Object.assign(new Error('gone'), { name: 'LockLost' }), 'LockLost')).toBe(false)
    expect(isFailure(undefined)).toBe(false)
  })

  test('is a problem of Valkey where Valkey does not do what it is asked, and not where the lock is held or lost', () => {
    const problems = FAILURE_NAMES.filter((name) => isLockProblem(new Failure(name, 'No')))
    expect(problems).toEqual(['LockUnreachable', 'LockRefused', 'LockMisconfigured'])
  })

  test('whatever is thrown has a text', () => {
    expect([new Error('why'), 'why', 7, undefined].map(messageOf)).toEqual(['why', 'why', '7', 'undefined'])
  })
})

test('what always carries data cannot be made without it, and carries no other', () => {
  const data = { holder: 'ARIA-2026-10-1', remainingMs: null }
  expect(new Failure('LockHeld', 'held', { data }).data).toEqual(data)
  // @ts-expect-error The holder is missing.
  expect(new Failure('LockHeld', 'held').data).toBeUndefined()
  // @ts-expect-error A lock's data is no chunk's.
  expect(new Failure('ChunkMismatch', 'differs', { data }).data).toEqual(data)
})
