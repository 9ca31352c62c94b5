import { expect, test } from 'vitest'
import { answerOf, holdTask, within } from '../../support/faults.ts'
import { expectLockEnds, expectSettled, fingerprintOf, jobsOf } from '../../support/invariants.ts'
import type { Fault, Statement } from '../../support/relay.ts'
import { NO_ROWS, shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'

/*
 * A sandbox that is paused (SIGSTOP) somewhere between its lock check and its commit, while the world goes on, and
 * then wakes (SIGCONT) and wants to finish what it began.
 */
const on = useStack({ relay: true, killOnTimeout: false })

const OLD = shareFile(150, 51)
const NEW = shareFile(200, 52)
/** Four chunks are one Map item, so that nothing but the frozen sandbox works on the slice. */
const CHUNK_ROWS = 50

const BEGIN = /^start transaction$/
const GUARD = /for share$/
const MARK = /^update job_chunk set marked_at/
const LOAD = /^load data/
const DELETE = /^delete from share_ratio/

/** Starts a run and freezes it where the fault strikes. */
const freeze = async (slice: TestSlice, source: { staged: string }, fault: Omit<Fault, 'act'>) => {
  const armed = on().relay.arm({ ...fault, act: (statement) => statement.freeze() })
  const arn = await on().start({ ...slice, source })
  const frozen = await within(on(), arn, armed.hit)
  return { arn, frozen, answer: answerOf(on(), frozen.pid) }
}

const timeOut = ({ pid }: Statement): void =>
  on()
    .stack.lambda.sandboxes.find((one) => one.pid === pid)
    ?.timeOut()

type FreezePoint = [task: string, sql: RegExp, moment: Fault['moment'], skip: number]
const FREEZE_POINTS: FreezePoint[] = [
  ['DeleteChunk', BEGIN, 'before', 0],
  ['DeleteChunk', GUARD, 'after', 0],
  ['DeleteChunk', DELETE, 'after', 0],
  ['RegisterChunk', BEGIN, 'before', 2],
  ['RegisterChunk', GUARD, 'after', 2],
  ['RegisterChunk', LOAD, 'after', 2],
  ['MarkRegistered', BEGIN, 'before', 0],
]

test.each(FREEZE_POINTS)(
  '%s frozen at %s (%s it) writes nothing once another run opened the job: it hears StaleFence',
  async (task, sql, moment, skip) => {
    const slice = await on().newSlice()
    await on().seed(slice, OLD)
    const source = await on().stage(NEW, CHUNK_ROWS)
    const { arn, frozen, answer } = await freeze(slice, source, { task, sql, moment, skip })
    // A failover forgets the lock, or it expires: the second run gets it while the first still believes to hold it.
    await on().valkey.del(on().lockKey(slice))
    const second = await on().run({ ...slice, source })
    expect(second).toMatchObject({ status: 'SUCCEEDED', output: { job: { outcome: 'taken over', fence: 2 } } })
    await expectSettled(on(), slice, NEW)
    frozen.thaw()
    expect(await answer).toBe('StaleFence')
    expect(await on().ended(arn)).toMatchObject({ status: 'FAILED', error: 'StaleFence' })
    await expectSettled(on(), slice, NEW)
    expect(await jobsOf(on(), slice)).toHaveLength(1)
  },
)

test('a frozen delete that wakes after a stop, a halt and a resume deletes no new row', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const source = await on().stage(NEW, CHUNK_ROWS)
  const { arn, frozen, answer } = await freeze(slice, source, { task: 'DeleteChunk', sql: MARK, moment: 'after' })
  await on().stop(arn)
  expect(await on().ended(arn)).toMatchObject({ status: 'ABORTED' })
  expect(await jobsOf(on(), slice)).toMatchObject([{ halt_error: 'ExecutionABORTED', fence: 2 }])
  expect(await fingerprintOf(on(), slice)).toBe(OLD.fingerprint)
  await on().run({ ...slice, source })
  frozen.thaw()
  expect(await answer).toBe('StaleFence')
  await expectSettled(on(), slice, NEW)
})

test('a zombie under the same fence finds the marks of the attempt after it and changes 0 rows', async () => {
  const slice = await on().newSlice()
  const source = await on().stage(NEW, CHUNK_ROWS)
  const atMark = holdTask(on(), 'MarkRegistered', slice)
  const { arn, frozen, answer } = await freeze(slice, source, {
    task: 'RegisterChunk',
    sql: BEGIN,
    moment: 'before',
    skip: 1,
  })
  timeOut(frozen)
  // Attempt 2 has registered every chunk, and the job still is in REGISTERING under the same fence.
  await atMark.reached
  const before = await fingerprintOf(on(), slice)
  frozen.thaw()
  expect(JSON.parse(await answer)).toMatchObject({ rows: 50 })
  expect(await fingerprintOf(on(), slice)).toBe(before)
  atMark.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, NEW)
})

test('a zombie that wakes in mid-transaction commits its chunk once, and the attempt that waited for it skips it', async () => {
  const slice = await on().newSlice()
  const source = await on().stage(NEW, CHUNK_ROWS)
  const { arn, frozen } = await freeze(slice, source, { task: 'RegisterChunk', sql: LOAD, moment: 'after', skip: 1 })
  const waiting = on().relay.arm({ task: 'RegisterChunk', sql: MARK, moment: 'before', act: () => undefined })
  timeOut(frozen)
  // Attempt 2 asks for the mark that attempt 1 has set and not committed.
  await waiting.hit
  frozen.thaw()
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED', output: { job: { fence: 1 } } })
  await expectSettled(on(), slice, NEW)
})

test('two runs that both lost the lock end with one file, whatever wakes when', async () => {
  const slice = await on().newSlice()
  const other = shareFile(200, 53)
  const source = await on().stage(NEW, CHUNK_ROWS)
  const { arn, frozen, answer } = await freeze(slice, source, {
    task: 'RegisterChunk',
    sql: LOAD,
    moment: 'after',
    skip: 1,
  })
  await on().valkey.del(on().lockKey(slice))
  const atPlan = holdTask(on(), 'PlanDelete', slice)
  const second = await on().start({ ...slice, source: await on().stage(other, CHUNK_ROWS), supersede: true })
  await atPlan.reached
  await expectLockEnds(on(), slice)
  frozen.thaw()
  expect(await answer).toBe('StaleFence')
  expect(await on().ended(arn)).toMatchObject({ status: 'FAILED', error: 'StaleFence' })
  atPlan.release()
  expect(await on().ended(second)).toMatchObject({ status: 'SUCCEEDED', output: { job: { outcome: 'superseding' } } })
  await expectSettled(on(), slice, other)
  expect(other.fingerprint).not.toBe(NO_ROWS)
})
