import { describe, expect, test } from 'vitest'
import { holdTask } from '../../../support/faults.ts'
import { expectHalted, expectSettled, jobsOf, lockOf } from '../../../support/invariants.ts'
import { named, useOperator } from '../../../support/operator.ts'
import { type ShareFile, shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/* Watching, stopping, resuming, undoing and unlocking runs, each call in a process of its own, on the local stack. */
const on = useStack()
const operator = useOperator(on)
const FILE = shareFile(400, 51)
const OTHER = shareFile(300, 52)

/** Chunks of a staged source: several, and all in one item, so that a held task holds all of them. */
const CHUNK_ROWS = 60
const confirmed = ({ distributor, month }: TestSlice): string[] => ['--confirm', `${distributor} ${month}`]

/** A slice that holds the file. */
const settled = async (file: ShareFile): Promise<TestSlice> => {
  const slice = await on().newSlice()
  expect(await on().run({ ...slice, source: await on().upload(file) })).toMatchObject({ status: 'SUCCEEDED' })
  return slice
}

/** A run that is held before a task. */
const runHeldBefore = async (task: string, slice: TestSlice, file = FILE) => {
  const held = holdTask(on(), task, slice)
  const arn = await on().start({ ...slice, source: await on().stage(file, CHUNK_ROWS) })
  const { event } = await held.reached
  return { arn, name: arn.split(':').at(-1) ?? '', event, release: held.release }
}

type Report = {
  readonly jobs: readonly {
    readonly job: number
    readonly state: string
    readonly register: { readonly map: string }
  }[]
  readonly lock: { readonly holder: string; readonly tokenDigest: string } | null
  readonly audit: readonly { readonly action: string; readonly why: string; readonly job: number | null }[]
}

const show = (slice: TestSlice) => operator.json<Report>('show', ...named(slice))

describe('stop', () => {
  test('halts between two chunks, frees the lock, and resume finishes what is left', async () => {
    const slice = await settled(OTHER)
    const run = await runHeldBefore('RegisterChunk', slice)
    const stopped = await operator.json<{ job: number }>('stop', ...named(slice), '--why', 'wrong file')
    expect(stopped).toMatchObject({
      code: 0,
      ...slice,
      halted: true,
      state: 'REGISTERING',
      released: true,
      stillRunning: null,
    })
    run.release()
    expect(await on().ended(run.arn)).toMatchObject({ status: 'ABORTED', error: 'Stopped' })
    const halted = await expectHalted(on(), slice, 'REGISTERING', 'Stopped')
    expect(halted.halt_cause).toContain('wrong file')
    expect(await operator.json('stop', ...named(slice))).toMatchObject({ code: 8, error: 'NotFound' })

    const resumed = await operator.json('resume', String(stopped.job), '--why', 'right after all')
    expect(resumed).toMatchObject({ code: 0, plan: null, started: { joined: false }, end: { status: 'SUCCEEDED' } })
    await expectSettled(on(), slice, FILE)
    const { audit } = await show(slice)
    expect(audit.map(({ action, why }) => [action, why])).toEqual([
      ['resume', 'right after all'],
      ['stop', 'wrong file'],
    ])
  })

  test('ends a run that has opened no job yet, and nothing else', async () => {
    const slice = await settled(OTHER)
    const run = await runHeldBefore('AcquireLock', slice)
    expect(await operator.json('stop', ...named(slice))).toMatchObject({ code: 0, ended: run.name })
    expect(await on().ended(run.arn)).toMatchObject({ status: 'ABORTED', error: 'Stopped' })
    await expectSettled(on(), slice, OTHER)
    run.release()
  })

  test('says that another run of the slice goes on', async () => {
    const slice = await on().newSlice()
    const run = await runHeldBefore('PlanDelete', slice)
    const atLock = holdTask(on(), 'AcquireLock', slice)
    const waiting = await on().start({ ...slice, source: await on().upload(OTHER), onHeld: 'wait' })
    await atLock.reached
    expect(await operator.json('stop', ...named(slice))).toMatchObject({ code: 0, halted: true, stillRunning: waiting })
    run.release()
    expect(await operator.json('stop', ...named(slice))).toMatchObject({ code: 0, ended: waiting.split(':').at(-1) })
    atLock.release()
  })
})

test('resuming what runs joins it, and without an open job there is nothing to resume', async () => {
  const slice = await on().newSlice()
  const run = await runHeldBefore('PlanDelete', slice)
  expect(await operator.json('resume', ...named(slice), '--detach')).toMatchObject({
    code: 0,
    started: { executionArn: run.arn, joined: true },
  })
  run.release()
  await on().ended(run.arn)
  expect(await operator.json('resume', ...named(slice))).toMatchObject({ code: 8, error: 'NotFound' })
})

describe('undo', () => {
  test('brings back the set before, after a typed confirmation', async () => {
    const slice = await settled(FILE)
    await on().run({ ...slice, source: await on().upload(OTHER) })
    expect(await operator.json('undo', ...named(slice))).toMatchObject({ code: 6, error: 'Unconfirmed' })
    await expectSettled(on(), slice, OTHER)
    const undone = await operator.json('undo', ...named(slice), ...confirmed(slice), '--why', 'file of another month')
    expect(undone).toMatchObject({
      ...{ code: 0, started: { joined: false }, end: { status: 'SUCCEEDED' } },
      plan: { isUndo: true, rowsToDelete: 300, rowsToRegister: 400, difference: { added: 400, removed: 300 } },
    })
    await expectSettled(on(), slice, FILE)
    expect((await show(slice)).audit[0]).toMatchObject({ action: 'undo', why: 'file of another month' })
  })

  test('after a replacement that halted brings back what was being replaced, and closes that job', async () => {
    const slice = await settled(FILE)
    const run = await runHeldBefore('RegisterChunk', slice, OTHER)
    expect(await operator.json('stop', ...named(slice))).toMatchObject({ code: 0 })
    run.release()
    await on().ended(run.arn)
    expect(await operator.json('undo', ...named(slice), ...confirmed(slice))).toMatchObject({
      code: 0,
      end: { status: 'SUCCEEDED' },
    })
    await expectSettled(on(), slice, FILE)
    expect((await jobsOf(on(), slice)).map(({ closed_at }) => closed_at === null)).toEqual([true, false, true])
  })

  test('where nothing was registered before there is nothing to go back to', async () => {
    expect(await operator.json('undo', ...named(await settled(FILE)))).toMatchObject({ code: 8, error: 'NotFound' })
  })
})

describe('unlock', () => {
  test('shows the holder, raises the fence first, and the old run writes nothing more', async () => {
    const slice = await settled(OTHER)
    const run = await runHeldBefore('RegisterChunk', slice)
    const { lock, jobs } = await show(slice)
    expect(lock).toMatchObject({ holder: run.name, tokenDigest: expect.stringMatching(/^[0-9a-f]{12}$/) })
    expect(await operator.json('unlock', ...named(slice))).toMatchObject({ code: 6, error: 'Unconfirmed' })
    expect(await operator.json('unlock', ...named(slice), '--token', '000000000000')).toMatchObject({
      code: 4,
      error: 'Busy',
    })
    expect(await lockOf(on(), slice)).not.toBeNull()

    const { code, stdout } = await operator.call('unlock', ...named(slice), '--token', lock?.tokenDigest ?? '')
    expect(code).toBe(0)
    expect(stdout).toMatch(
      new RegExp(`locked by ${run.name}, .+ left unless extended, token ${lock?.tokenDigest}, job ${jobs[0]?.job}`),
    )
    expect(stdout).toContain(
      `Job ${jobs[0]?.job} is halted. An operator unlocked the slice; go on when you are ready: sharelock resume ${named(slice).join(' ')}`,
    )
    expect(await lockOf(on(), slice)).toBeNull()
    // The holder lives after all: its chunks are refused, and it ends.
    run.release()
    expect(await on().ended(run.arn)).toMatchObject({ status: 'FAILED' })
    await expectHalted(on(), slice, 'REGISTERING', 'Unlocked')
    expect((await show(slice)).jobs[0]?.register.map).toMatch(/^\.{5,8}$/)
    expect(await operator.json('resume', ...named(slice))).toMatchObject({ code: 0 })
    await expectSettled(on(), slice, FILE)
  })

  test('deletes a lock that no job carries, with a typed confirmation', async () => {
    const slice = await on().newSlice()
    await on().valkey.set(on().lockKey(slice), 'gone/3c9e', 'PX', 200_000)
    expect(await operator.json('unlock', ...named(slice), ...confirmed(slice))).toMatchObject({
      ...{ code: 0, job: null, holder: 'gone', released: true },
    })
    expect(await lockOf(on(), slice)).toBeNull()
    expect(await operator.json('unlock', ...named(slice))).toMatchObject({ code: 8, error: 'NotFound' })
  })
})
