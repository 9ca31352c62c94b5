import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerOf, holdTask, within } from '../../../support/faults.ts'
import { expectHalted, expectSettled, jobsOf, lockOf } from '../../../support/invariants.ts'
import { KIM, operatorFunctions } from '../../../support/operator-functions.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/* What operators change, through Lambda's API and the real bundles, beside runs that go on. */
const on = useStack({ relay: true, killOnTimeout: false })
let kim: ReturnType<typeof operatorFunctions>

beforeAll(() => {
  kim = operatorFunctions(on())
})

afterAll(() => kim.close())

const OLD = shareFile(150, 71)
const NEW = shareFile(200, 72)

/** Four chunks are one Map item: one lane. */
const CHUNK_ROWS = 50
const LOAD = /^load data/
const COMMIT = /^commit$/
const RAISE = /for update$/
const OPERATE = 'sharelock-local-operate'
const auditOf = (slice: TestSlice) => kim.ask({ question: 'audit', ...slice })

const digestOf = async (slice: TestSlice): Promise<string> => {
  const { lock } = await kim.ask({ question: 'slice', ...slice })
  if (lock === null || lock === 'unreachable') throw new Error(`There is no lock to see: ${lock}`)
  return lock.tokenDigest
}

/** A run that is paused with a chunk's rows loaded and not committed. */
const frozenRun = async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const source = await on().stage(NEW, CHUNK_ROWS)
  const armed = on().relay.arm({ task: 'RegisterChunk', sql: LOAD, moment: 'after', skip: 1, act: (at) => at.freeze() })
  const arn = await on().start({ ...slice, source })
  const frozen = await within(on(), arn, armed.hit)
  const [job] = await jobsOf(on(), slice)
  if (job === undefined) throw new Error('The run opened no job')
  return { slice, source, arn, frozen, answer: answerOf(on(), frozen.pid), job }
}

describe('unlock', () => {
  test('of a live lock raises the fence first: the old run then writes no row, and the next one is complete', async () => {
    const { slice, source, arn, frozen, answer, job } = await frozenRun()
    const seen: unknown[] = []
    on().relay.arm({
      task: OPERATE,
      sql: COMMIT,
      moment: 'before',
      act: async () => seen.push((await lockOf(on(), slice)) !== null),
    })
    const unlocked = await kim.act({ action: 'unlock', ...slice, tokenDigest: await digestOf(slice), ...KIM })
    expect(unlocked).toEqual({ job: job.id, holder: arn.split(':').at(-1), released: true })
    expect(seen, 'the lock is there until the halt is committed').toEqual([true])
    expect(await expectHalted(on(), slice, 'REGISTERING', 'Unlocked')).toMatchObject({ fence: 2 })
    const next = await on().run({ ...slice, source })
    expect(next).toMatchObject({ status: 'SUCCEEDED', output: { job: { id: job.id, fence: 3 } } })
    await expectSettled(on(), slice, NEW)
    frozen.thaw()
    expect(await answer).toBe('StaleFence')
    expect(await on().ended(arn)).toMatchObject({ status: 'FAILED' })
    await expectSettled(on(), slice, NEW)
    expect(await auditOf(slice)).toMatchObject([
      { ...KIM, action: 'unlock', job: job.id, execution: unlocked.holder, detail: { state: 'REGISTERING' } },
    ])
  })

  test('leaves a run alone that took over while it was under way', async () => {
    const { slice, source, frozen, answer } = await frozenRun()
    const tokenDigest = await digestOf(slice)
    const atMark = holdTask(on(), 'MarkRegistered', slice)
    let second = ''
    on().relay.arm({
      task: OPERATE,
      sql: RAISE,
      moment: 'before',
      act: async () => {
        await on().valkey.del(on().lockKey(slice))
        second = await on().start({ ...slice, source })
        await within(on(), second, atMark.reached)
      },
    })
    expect(await kim.act({ action: 'unlock', ...slice, tokenDigest, ...KIM })).toMatchObject({
      job: null,
      released: false,
    })
    expect(await lockOf(on(), slice)).toMatchObject({ token: expect.stringContaining(second.split(':').at(-1) ?? '') })
    atMark.release()
    expect(await on().ended(second)).toMatchObject({ status: 'SUCCEEDED' })
    await expectSettled(on(), slice, NEW)
    frozen.thaw()
    expect(await answer).toBe('StaleFence')
    await expectSettled(on(), slice, NEW)
  })

  test('beside the holder’s OpenJob in flight leaves nothing running and nothing open', async () => {
    const slice = await on().newSlice()
    const source = await on().upload(NEW)
    const atOpen = holdTask(on(), 'OpenJob', slice)
    const arn = await on().start({ ...slice, source })
    await within(on(), arn, atOpen.reached)
    const unlocked = await kim.act({ action: 'unlock', ...slice, tokenDigest: await digestOf(slice), ...KIM })
    expect(unlocked).toMatchObject({ job: null, holder: arn.split(':').at(-1), released: true })
    atOpen.release()
    // It misses its lock, acquires one anew, and may open nothing.
    expect(await on().ended(arn)).toMatchObject({ status: 'FAILED', error: 'ExecutionEnded' })
    expect(await jobsOf(on(), slice)).toEqual([])
    expect(await lockOf(on(), slice)).toBeNull()
    expect(await on().run({ ...slice, source })).toMatchObject({ status: 'SUCCEEDED' })
    await expectSettled(on(), slice, NEW)
  })

  test('halts the job that the holder’s OpenJob commits meanwhile', async () => {
    const slice = await on().newSlice()
    const tokenOf = Promise.withResolvers<string>()
    const marking = on().relay.arm({
      task: OPERATE,
      sql: /^insert into execution/,
      moment: 'before',
      act: () => undefined,
    })
    on().relay.arm({
      task: 'OpenJob',
      sql: COMMIT,
      moment: 'before',
      act: async () => {
        tokenOf.resolve(await digestOf(slice))
        await marking.hit
      },
    })
    // Behind OpenJob the run would go on while the unlock is on its way, and its job be in another state.
    const atPlan = holdTask(on(), 'PlanDelete', slice)
    const arn = await on().start({ ...slice, source: await on().upload(NEW) })
    const tokenDigest = await within(on(), arn, tokenOf.promise)
    const unlocked = await kim.act({ action: 'unlock', ...slice, tokenDigest, ...KIM })
    expect(unlocked).toMatchObject({ job: expect.any(Number), released: true })
    atPlan.release()
    expect(await on().ended(arn)).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(/^(StaleFence|Superseded|ExecutionEnded)$/),
    })
    await expectHalted(on(), slice, 'DELETING', 'Unlocked')
  })

  test('of a lock without a running job only deletes it', async () => {
    const slice = await on().newSlice()
    await on().valkey.set(on().lockKey(slice), 'left-over/1', 'PX', 60_000)
    expect(await kim.act({ action: 'unlock', ...slice, tokenDigest: await digestOf(slice), ...KIM })).toEqual({
      job: null,
      holder: 'left-over',
      released: true,
    })
    expect(await lockOf(on(), slice)).toBeNull()
    expect(await auditOf(slice)).toMatchObject([
      { action: 'unlock', job: null, execution: 'left-over', detail: { state: null } },
    ])
  })

  test('is refused where there is no lock, and where it is not the one that was seen, naming the holder', async () => {
    const slice = await on().newSlice()
    const unlock = (tokenDigest: string) => kim.act({ action: 'unlock', ...slice, tokenDigest, ...KIM })
    await expect(unlock('0'.repeat(12))).rejects.toMatchObject({ name: 'NotLocked' })
    await on().valkey.set(on().lockKey(slice), 'first/1', 'PX', 60_000)
    const seen = await digestOf(slice)
    await on().valkey.set(on().lockKey(slice), 'second/2', 'PX', 60_000)
    await expect(unlock(seen)).rejects.toMatchObject({
      name: 'LockChanged',
      message: expect.stringContaining('the run second holds it now'),
    })
    expect(await on().valkey.get(on().lockKey(slice))).toBe('second/2')
    expect(await auditOf(slice)).toEqual([])
  })
})
