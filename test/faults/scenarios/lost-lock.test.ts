import { expect, test } from 'vitest'
import { holdTask, recordCalls, within } from '../../support/faults.ts'
import { expectHalted, expectSettled, jobsOf, lockOf } from '../../support/invariants.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'

/* A chunk that fails for good, rows of strangers, and a lock that is gone: the state never advances over them. */
const on = useStack()
const OLD = shareFile(150, 71)
const NEW = shareFile(600, 72)
const CHUNK_ROWS = 50

test.each([['DeleteChunk'], ['RegisterChunk'], ['MarkRegistered']])(
  'a lock that is gone before %s is acquired anew, never renewed into being, and the run ends exactly',
  async (task) => {
    const slice = await on().newSlice()
    await on().seed(slice, OLD)
    const atTask = holdTask(on(), task, slice)
    const arn = await on().start({ ...slice, source: await on().stage(NEW, CHUNK_ROWS) })
    await atTask.reached
    const lost = (await lockOf(on(), slice))?.token
    await on().valkey.del(on().lockKey(slice))
    const again = holdTask(on(), 'AcquireLock', slice)
    atTask.release()
    await within(on(), arn, again.reached)
    expect(await lockOf(on(), slice)).toBeNull()
    again.release()
    const end = await on().ended(arn)
    expect(end).toMatchObject({ status: 'SUCCEEDED', output: { reacquire: { count: 1 }, job: { fence: 2 } } })
    const [job] = await jobsOf(on(), slice)
    expect(job?.lock_token).not.toBe(lost)
    await expectSettled(on(), slice, NEW)
  },
)

test('a lock that is lost again and again halts the job instead of going round for ever', async () => {
  const slice = await on().newSlice()
  const source = await on().stage(NEW, CHUNK_ROWS)
  const stop = on().stack.lambda.onInvoke(async ({ functionName, event }) => {
    if (functionName === 'RegisterChunk' && JSON.stringify(event).includes(slice.distributor))
      await on().valkey.del(on().lockKey(slice))
  })
  const end = await on().run({ ...slice, source })
  stop()
  expect(end).toMatchObject({ status: 'FAILED', error: 'LockLost' })
  await expectHalted(on(), slice, 'REGISTERING', 'LockLost')
  await on().run({ ...slice, source })
  await expectSettled(on(), slice, NEW)
})

test("after a lost lock a visitor's run comes and goes, and the first run neither writes under nor deletes its lock", async () => {
  const slice = await on().newSlice()
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  // One lane: a second one would acquire a new lock at once.
  const first = await on().start({ ...slice, source: await on().stage(shareFile(180, 73), CHUNK_ROWS) })
  await atChunk.reached
  await on().valkey.del(on().lockKey(slice))
  const visitor = await on().run({ ...slice, source: await on().stage(OLD, CHUNK_ROWS) })
  expect(visitor).toMatchObject({ status: 'FAILED', error: 'JobOpenError' })
  expect(await lockOf(on(), slice)).toBeNull()
  await on().valkey.set(on().lockKey(slice), 'somebody-else/1', 'PX', 60_000)
  atChunk.release()
  const refused = await on().ended(first)
  expect(refused).toMatchObject({ status: 'FAILED', error: 'LockTaken' })
  expect((await lockOf(on(), slice))?.token).toBe('somebody-else/1')
  await on().valkey.del(on().lockKey(slice))
  await expectHalted(on(), slice, 'REGISTERING', 'LockTaken')
})

test('a lock that comes back to a holder who opened nothing is waited for, and the run ends exactly', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const arn = await on().start({ ...slice, source: await on().stage(NEW, CHUNK_ROWS) })
  await atChunk.reached
  // A failover to an older replica: the key is that of a run which ended long ago.
  await on().valkey.set(on().lockKey(slice), 'ghost/1', 'PX', 60_000)
  const tokens: string[] = []
  const stop = on().stack.lambda.onInvoke(async ({ functionName, event }) => {
    if (functionName !== 'AcquireLock') return
    tokens.push((event as { lock: { token: string } }).lock.token)
    if (tokens.length === 3) await on().valkey.del(on().lockKey(slice))
  })
  atChunk.release()
  const end = await on().ended(arn)
  stop()
  expect(end).toMatchObject({ status: 'SUCCEEDED', output: { reacquire: { count: 1 }, job: { fence: 2 } } })
  expect(new Set(tokens)).toEqual(new Set([tokens[0]]))
  await expectSettled(on(), slice, NEW)
})

test('a run that lost its lock does not wait for the run that took its job over', async () => {
  const slice = await on().newSlice()
  const source = await on().stage(NEW, CHUNK_ROWS)
  const atChunk = holdTask(on(), 'RegisterChunk', slice, { count: 2 })
  const first = await on().start({ ...slice, source })
  await atChunk.reached
  await on().valkey.del(on().lockKey(slice))
  const atMark = holdTask(on(), 'MarkRegistered', slice)
  const second = await on().start({ ...slice, source })
  await within(on(), second, atMark.reached)
  const { calls, stop } = recordCalls(on(), slice)
  atChunk.release()
  expect(await on().ended(first)).toMatchObject({ status: 'FAILED', error: 'Superseded' })
  stop()
  expect(calls.filter(({ task }) => task === 'AcquireLock')).toHaveLength(1)
  atMark.release()
  expect(await on().ended(second)).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, NEW)
})
