import { expect, test } from 'vitest'
import { answerOf, beforeTask, callAgain, holdTask, pause, recordCalls, within } from '../../support/faults.ts'
import { expectHalted, expectSettled, fingerprintOf, jobsOf, lockOf, rowsOf } from '../../support/invariants.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'

/* Lanes beside each other, and calls that come twice or far too late. */
const on = useStack({ relay: true })

const OLD = shareFile(150, 61)
const NEW = shareFile(400, 62)
const CORRECTED = shareFile(250, 63)
/** Sixteen chunks are several Map items: two lanes. */
const CHUNK_ROWS = 25

const GUARD = /for share$/
const LOAD = /^load data/
const COMMIT = /^commit$/

/** A staged source of which a chunk is damaged when everything is deleted and nothing registered; and how to fix it. */
const damagedSource = async (slice: TestSlice, file = NEW, chunk = 0) => {
  const source = await on().stage(file, CHUNK_ROWS)
  const key = `staged/${source.staged}/00000${chunk}.tsv`
  const body = await on().get(key)
  beforeTask(on(), 'BeginRegistering', slice, () => on().put(key, body.slice(0, -40)))
  return { source, repair: () => on().put(key, body) }
}

test.each([
  ['after its guard', GUARD],
  ['with its rows loaded', LOAD],
])('a lane frozen %s writes no row after its sibling failed and the lock was released', async (_, sql) => {
  const slice = await on().newSlice()
  const { source, repair } = await damagedSource(slice)
  const failing = holdTask(on(), 'RegisterChunk', slice)
  const armed = on().relay.arm({ task: 'RegisterChunk', sql, moment: 'after', skip: 1, act: (at) => at.freeze() })
  const arn = await on().start({ ...slice, source })
  const frozen = await within(on(), arn, armed.hit)
  const answer = answerOf(on(), frozen.pid)
  failing.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'FAILED', error: 'StagedSourceDamaged' })
  const halted = await expectHalted(on(), slice, 'REGISTERING', 'StagedSourceDamaged')
  expect(halted.halt_cause).toContain('is not what its manifest promises')
  const released = await fingerprintOf(on(), slice)
  frozen.thaw()
  expect(await answer).toBe('StaleFence')
  expect(await fingerprintOf(on(), slice)).toBe(released)
  await expectHalted(on(), slice, 'REGISTERING')
  await repair()
  expect(await on().run({ ...slice, source })).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, NEW)
})

test('a lane in mid-commit keeps the lock from being released before its commit', async () => {
  const slice = await on().newSlice()
  const { source } = await damagedSource(slice)
  const failing = holdTask(on(), 'RegisterChunk', slice)
  const seen: string[] = []
  const armed = on().relay.arm({
    task: 'RegisterChunk',
    sql: COMMIT,
    moment: 'before',
    act: async () => {
      failing.release()
      await haltAsked.hit
      await pause(300)
      seen.push((await lockOf(on(), slice)) === null ? 'released' : 'held')
      seen.push(String((await jobsOf(on(), slice))[0]?.fence))
    },
  })
  const haltAsked = on().relay.arm({ task: 'HaltJob', sql: /for update$/, moment: 'before', act: () => undefined })
  const end = await on().run({ ...slice, source })
  expect(end).toMatchObject({ status: 'FAILED', error: 'StagedSourceDamaged' })
  expect(armed.hits()).toBe(1)
  expect(seen).toEqual(['held', '1'])
  const atRelease = await rowsOf(on(), slice)
  await expectHalted(on(), slice, 'REGISTERING')
  await pause(300)
  expect(await rowsOf(on(), slice)).toBe(atRelease)
})

test('every call of a run made twice at once leaves counts exact', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const source = await on().stage(NEW, CHUNK_ROWS)
  const twins: Promise<unknown>[] = []
  let isTwin = false
  const stop = on().stack.lambda.onInvoke(({ functionName, event }) => {
    if (isTwin || !['DeleteChunk', 'RegisterChunk'].includes(functionName)) return
    isTwin = true
    twins.push(callAgain(on(), { task: functionName, event }))
    isTwin = false
  })
  const end = await on().run({ ...slice, source })
  stop()
  expect(end).toMatchObject({ status: 'SUCCEEDED' })
  // One item to delete, seven to register.
  expect(twins).toHaveLength(8)
  await Promise.all(twins)
  await expectSettled(on(), slice, NEW)
})

/** Everything MySQL knows of a slice. */
const everything = async (slice: TestSlice) => ({
  rows: await fingerprintOf(on(), slice),
  jobs: await jobsOf(on(), slice),
  ledger: await on().rows(
    'select c.* from job_chunk c join job j on j.id = c.job_id join distributor d on d.id = j.distributor_id where d.code = ?',
    [slice.distributor],
  ),
  events: await on().rows(
    'select o.event_id, o.type, o.payload from outbox o join job j on j.id = o.job_id join distributor d on d.id = j.distributor_id where d.code = ?',
    [slice.distributor],
  ),
})

/** The same call as if its run never had a lock, so that only MySQL is in its way. */
const withoutLock = (event: unknown): unknown => {
  const { lock } = event as { lock?: { token: string } }
  return lock === undefined ? event : { ...(event as object), lock: { ...lock, held: false } }
}

test('an old run continued after another finished the month is refused at every task', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  // One lane, so that it is always the same chunks that are left.
  const { source, repair } = await damagedSource(slice, shareFile(180, 64), 2)
  const { calls, stop } = recordCalls(on(), slice)
  expect(await on().run({ ...slice, source })).toMatchObject({ status: 'FAILED', error: 'StagedSourceDamaged' })
  stop()
  await repair()
  const next = await on().run({ ...slice, source: await on().upload(CORRECTED), supersede: true })
  expect(next).toMatchObject({ status: 'SUCCEEDED' })
  const before = await everything(slice)

  const answers: [string, string, string][] = []
  for (const { task, event } of calls.filter((call) => !['StageSource', 'AcquireLock'].includes(call.task)))
    answers.push([
      task,
      await callAgain(on(), { task, event }),
      await callAgain(on(), { task, event: withoutLock(event) }),
    ])
  expect(await everything(slice)).toEqual(before)
  const verdicts = Object.fromEntries(answers.map(([task, ...both]) => [task, both]))
  expect(verdicts).toMatchObject({
    OpenJob: ['LockLost', 'ExecutionEnded'],
    PlanDelete: ['LockLost', 'StaleFence'],
    DeleteChunk: ['{"chunks":0,"rows":0}', '{"chunks":0,"rows":0}'],
    MarkDeleted: ['LockLost', 'StaleFence'],
    BeginRegistering: ['LockLost', 'StaleFence'],
    RegisterChunk: ['LockLost', 'StaleFence'],
    HaltJob: [expect.stringContaining('"halted":false'), expect.stringContaining('"halted":false')],
  })
  await expectSettled(on(), slice, CORRECTED)
})

test('every call of a finished run made again changes nothing', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const { calls, stop } = recordCalls(on(), slice)
  await on().run({ ...slice, source: await on().stage(NEW, CHUNK_ROWS) })
  stop()
  const before = await everything(slice)
  const tasks = new Set(calls.map((call) => call.task))
  expect(tasks.size).toBe(10)
  for (const { task, event } of calls) {
    await callAgain(on(), { task, event: withoutLock(event) })
    await callAgain(on(), { task, event })
  }
  expect(await everything(slice)).toEqual(before)
  await expectSettled(on(), slice, NEW)
})
