import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answerOf, holdTask, within } from '../../../support/faults.ts'
import { expectHalted, expectSettled, fingerprintOf, jobsOf, lockOf } from '../../../support/invariants.ts'
import { KIM, operatorFunctions } from '../../../support/operator-functions.ts'
import { NO_ROWS, shareFile } from '../../../support/share-file.ts'
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
const OTHER = shareFile(250, 73)
/** Four chunks are one Map item: one lane. */
const CHUNK_ROWS = 50

const LOAD = /^load data/
const COMMIT = /^commit$/
const RAISE = /for update$/
const OPERATE = 'sharelock-local-operate'

const auditOf = (slice: TestSlice) => kim.ask({ question: 'audit', ...slice })
const eventsOf = (job: number) =>
  on().rows<{ type: string; error: string }>(
    `select type, payload ->> '$.error' as error from outbox where job_id = ? order by id`,
    [job],
  )
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
  const frozen = await within(on(), arn, armed.struck)
  const [job] = await jobsOf(on(), slice)
  if (job === undefined) throw new Error('The run opened no job')
  return { slice, source, arn, frozen, answer: answerOf(on(), frozen.pid), job }
}

describe('stop', () => {
  test('waits for the chunk in flight, halts behind it, and frees the lock; then nothing is written any more', async () => {
    const slice = await on().newSlice()
    const source = await on().stage(NEW, CHUNK_ROWS)
    const asked = Promise.withResolvers<number>()
    const seen: unknown[] = []
    const raising = on().relay.arm({ task: OPERATE, sql: RAISE, moment: 'before', act: () => undefined })
    on().relay.arm({
      task: 'RegisterChunk',
      sql: COMMIT,
      moment: 'before',
      skip: 1,
      act: async () => {
        const [job] = await jobsOf(on(), slice)
        asked.resolve(job?.id ?? 0)
        await raising.struck
        // The chunk has not committed: nothing may have been given away.
        seen.push((await jobsOf(on(), slice))[0]?.fence, (await lockOf(on(), slice)) !== null)
      },
    })
    const arn = await on().start({ ...slice, source })
    const job = await within(on(), arn, asked.promise)
    const stopped = await kim.act({ action: 'stop', job, ...KIM })
    expect(stopped).toEqual({ halted: true, job, state: 'REGISTERING', execution: arn, released: true })
    expect(seen).toEqual([1, true])
    const atStop = await fingerprintOf(on(), slice)
    expect(atStop).not.toBe(NO_ROWS)
    // Nobody ends the execution: the fence alone ends its writing, whichever of fence and lock it looks at next.
    expect(await on().ended(arn)).toMatchObject({ error: expect.stringMatching(/^(StaleFence|Superseded)$/) })
    expect(await fingerprintOf(on(), slice)).toBe(atStop)
    const halted = await expectHalted(on(), slice, 'REGISTERING', 'Stopped')
    expect(halted).toMatchObject({
      fence: 2,
      halt_cause: expect.stringContaining(`stopped by ${KIM.caller}: ${KIM.why}.`),
    })
    expect(await auditOf(slice)).toMatchObject([
      { ...KIM, action: 'stop', job, execution: arn.split(':').at(-1), detail: { state: 'REGISTERING', fence: 1 } },
    ])
    expect(await on().run({ ...slice, source })).toMatchObject({ status: 'SUCCEEDED', output: { job: { fence: 3 } } })
    await expectSettled(on(), slice, NEW)
  })

  test('ends a chunk that is paused, and its late waking changes no row', async () => {
    const { slice, arn, frozen, answer, job } = await frozenRun()
    expect(await kim.act({ action: 'stop', job: job.id, ...KIM })).toMatchObject({ halted: true, released: true })
    const atStop = await fingerprintOf(on(), slice)
    frozen.thaw()
    expect(await answer).toBe('StaleFence')
    await on().ended(arn)
    expect(await fingerprintOf(on(), slice)).toBe(atStop)
    await expectHalted(on(), slice, 'REGISTERING', 'Stopped')
  })

  test('halts once: neither the status event of the ended execution nor a second stop changes anything', async () => {
    const slice = await on().newSlice()
    const atPlan = holdTask(on(), 'PlanDelete', slice)
    const arn = await on().start({ ...slice, source: await on().upload(NEW) })
    await atPlan.reached
    const job = (await jobsOf(on(), slice))[0]?.id ?? 0
    await kim.act({ action: 'stop', job, ...KIM })
    await on().stop(arn)
    expect(await on().ended(arn)).toMatchObject({ status: 'ABORTED' })
    atPlan.release()
    expect(await kim.act({ action: 'stop', job, caller: 'lee' })).toMatchObject({ halted: false, released: false })
    await on().stack.lambda.settled()
    expect(await expectHalted(on(), slice, 'DELETING', 'Stopped')).toMatchObject({ fence: 2 })
    expect(await eventsOf(job)).toEqual([{ type: 'JobHalted', error: 'Stopped' }])
    expect(await auditOf(slice)).toHaveLength(1)
  })

  test('leaves a job that is REGISTERED or closed as it is, and says so', async () => {
    const slice = await on().newSlice()
    const source = await on().stage(NEW, CHUNK_ROWS)
    const atPlan = holdTask(on(), 'PlanDelete', slice)
    const first = await on().start({ ...slice, source })
    await atPlan.reached
    await on().stop(first)
    await on().ended(first)
    atPlan.release()
    await on().run({ ...slice, source: await on().upload(OTHER), supersede: true })
    const [registered, closed] = await jobsOf(on(), slice)
    for (const job of [registered, closed])
      expect(await kim.act({ action: 'stop', job: job?.id ?? 0, ...KIM })).toMatchObject({
        halted: false,
        state: job?.state,
        execution: job?.execution,
        released: false,
      })
    await expectSettled(on(), slice, OTHER)
    expect(await auditOf(slice)).toEqual([])
  })

  test('whose reply to COMMIT was lost halts once, frees the lock, and is recorded once', async () => {
    const slice = await on().newSlice()
    const atPlan = holdTask(on(), 'PlanDelete', slice)
    const arn = await on().start({ ...slice, source: await on().upload(NEW) })
    await atPlan.reached
    const job = (await jobsOf(on(), slice))[0]?.id ?? 0
    const armed = on().relay.arm({ task: OPERATE, sql: COMMIT, moment: 'after', act: (at) => at.cut() })
    expect(await kim.act({ action: 'stop', job, ...KIM })).toMatchObject({ halted: true, released: true })
    expect(armed.strikes()).toBe(1)
    expect(await expectHalted(on(), slice, 'DELETING', 'Stopped')).toMatchObject({ fence: 2 })
    expect(await auditOf(slice)).toHaveLength(1)
    atPlan.release()
    // It misses its lock, acquires one anew, and finds its job under another fence.
    expect(await on().ended(arn)).toMatchObject({ status: 'FAILED', error: 'Superseded' })
  })

  test('of a job that never was is refused', async () => {
    await expect(kim.act({ action: 'stop', job: 999_999, ...KIM })).rejects.toMatchObject({
      name: 'UnknownJob',
      message: expect.stringContaining('No job has the number 999999'),
    })
  })
})

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
        await marking.struck
      },
    })
    const arn = await on().start({ ...slice, source: await on().upload(NEW) })
    const tokenDigest = await within(on(), arn, tokenOf.promise)
    const unlocked = await kim.act({ action: 'unlock', ...slice, tokenDigest, ...KIM })
    expect(unlocked).toMatchObject({ job: expect.any(Number), released: true })
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

describe('record', () => {
  test('writes who is about to start what, before it is started', async () => {
    const slice = await on().newSlice()
    const request = { action: 'record', what: 'start', ...slice, source: 'incoming/a.csv', ...KIM } as const
    const { id } = await kim.act({ ...request, execution: `${slice.distributor}-1` })
    expect(await auditOf(slice)).toEqual([
      {
        ...{ id, ...KIM, action: 'start', ...slice, job: null, execution: `${slice.distributor}-1` },
        at: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        detail: { source: 'incoming/a.csv' },
      },
    ])
    const arn = `arn:aws:states:ap-northeast-2:000000000000:execution:Job:${slice.distributor}-2`
    await kim.act({ ...request, what: 'undo', execution: arn })
    expect((await auditOf(slice))[0]).toMatchObject({ action: 'undo', execution: `${slice.distributor}-2` })
  })

  test('for a distributor that nobody added is refused', async () => {
    const request = { action: 'record', what: 'start', month: '2026-10', execution: 'x', source: 'y', ...KIM } as const
    await expect(kim.act({ ...request, distributor: 'NOBODY' })).rejects.toMatchObject({ name: 'UnknownDistributor' })
  })
})

describe('put-distributor', () => {
  test('adds one that was not there, changes one that was, and records what changed', async () => {
    const code = `P${Date.now().toString(36)}`
    const fields = { code, name: '아리아', active: true, sumRule: 'exact', partyScheme: 'ipi' } as const
    const put = (mode: 'add' | 'set', change: object = {}) =>
      kim.act({ action: 'put-distributor', mode, distributor: { ...fields, ...change }, ...KIM })
    await expect(put('set')).rejects.toMatchObject({ name: 'UnknownDistributor' })
    const added = await put('add')
    expect(added).toEqual({ id: expect.any(Number), ...fields })
    await expect(put('add', { name: 'again' })).rejects.toMatchObject({ name: 'DistributorExists' })
    expect(await put('set', { active: false })).toEqual({ ...added, active: false })
    const all = await kim.ask({ question: 'distributors' })
    expect(all.filter((each) => each.code === code)).toEqual([{ ...added, active: false }])
    const { code: _, ...values } = fields
    expect(await kim.ask({ question: 'audit', distributor: code })).toMatchObject([
      { ...KIM, action: 'set-distributor', month: null, detail: { ...values, active: false, activeBefore: true } },
      { ...KIM, action: 'add-distributor', month: null, detail: values },
    ])
  })
})

test.each([
  ['an action that does not exist', { action: 'drop', caller: 'kim' }],
  ['a change without a caller', { action: 'stop', job: 1 }],
  ['a field too many', { action: 'stop', job: 1, caller: 'kim', force: true }],
  [
    'a token in place of its digest',
    { action: 'unlock', caller: 'kim', distributor: 'A', month: '2026-10', tokenDigest: 'a/1' },
  ],
])('%s is refused at the door', async (_, request) => {
  await expect(kim.act(request as never)).rejects.toMatchObject({ name: 'InvalidInput' })
})
