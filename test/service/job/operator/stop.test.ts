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
        await raising.hit
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
    expect(armed.hits()).toBe(1)
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
