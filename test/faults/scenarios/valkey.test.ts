import { afterEach, expect, test } from 'vitest'
import { answerOf, callAgain, holdTask } from '../../support/faults.ts'
import {
  expectHalted,
  expectSettled,
  expectUntouched,
  fingerprintOf,
  jobsOf,
  lockOf,
} from '../../support/invariants.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'

/* Valkey dies, forgets, fills up and falls silent. It decides who waits; it never decides who may write. */
const on = useStack({ own: ['valkey'], relay: true })

const OLD = shareFile(150, 91)
const NEW = shareFile(200, 92)
const CHUNK_ROWS = 50

const valkey = () => {
  const { server } = on().stack.lock
  if (server === undefined) throw new Error('This file has a Valkey of its own')
  return server
}
afterEach(async () => {
  valkey().thaw()
  if (valkey().pid === undefined) await valkey().restart()
  await on().valkey.call('replicaof', 'no', 'one')
  await on().valkey.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction')
  await on().valkey.flushall()
})

test('without Valkey a run that may not proceed begins nothing, and the next one after the outage runs', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const source = await on().stage(NEW, CHUNK_ROWS)
  await valkey().kill()
  const end = await on().run({ ...slice, source })
  expect(end).toMatchObject({ status: 'FAILED', error: 'LockUnreachable' })
  expect(await jobsOf(on(), slice)).toEqual([])
  expect(await fingerprintOf(on(), slice)).toBe(OLD.fingerprint)
  await valkey().restart()
  expect(await on().run({ ...slice, source })).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, NEW)
})

test('Valkey lost in mid-register halts the job by default, and a resume after the outage ends exactly', async () => {
  const slice = await on().newSlice()
  const source = await on().stage(NEW, CHUNK_ROWS)
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const arn = await on().start({ ...slice, source })
  await atChunk.reached
  await valkey().kill()
  atChunk.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'FAILED', error: 'LockUnreachable' })
  await valkey().restart()
  const halted = await expectHalted(on(), slice, 'REGISTERING', 'LockUnreachable')
  const resumed = await on().run({ ...slice, source })
  expect(resumed).toMatchObject({ status: 'SUCCEEDED', output: { job: { id: halted.id } } })
  await expectSettled(on(), slice, NEW)
})

test('Valkey lost in mid-register does not stop a run that may proceed', async () => {
  const slice = await on().newSlice()
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const arn = await on().start({ ...slice, source: await on().stage(NEW, CHUNK_ROWS), onOutage: 'proceed' })
  await atChunk.reached
  await valkey().kill()
  atChunk.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED', output: { job: { state: 'REGISTERED' } } })
  await valkey().restart()
  await expectSettled(on(), slice, NEW)
})

test('the first month ever, started twice at once without Valkey, is let through once by MySQL alone', async () => {
  const slice = await on().newSlice()
  const source = await on().stage(NEW, CHUNK_ROWS)
  await valkey().kill()
  // Both have read the empty head before either opens a job.
  const atOpen = holdTask(on(), 'OpenJob', slice, { count: 2 })
  const started = [
    await on().start({ ...slice, source, onOutage: 'proceed' }),
    await on().start({ ...slice, source, onOutage: 'proceed' }),
  ]
  await atOpen.reached
  atOpen.release()
  const ends = await Promise.all(started.map((arn) => on().ended(arn)))
  expect(ends.map((end) => end.error ?? end.status).sort()).toEqual(['SUCCEEDED', 'Superseded'])
  expect(ends.find((end) => end.status === 'SUCCEEDED')?.output.lock).toMatchObject({ held: false })
  await valkey().restart()
  await expectSettled(on(), slice, NEW)
  expect(await jobsOf(on(), slice)).toHaveLength(1)
})

test('a Valkey that accepts and stays silent costs seconds, and not one statement is sent', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const atChunk = holdTask(on(), 'DeleteChunk', slice)
  const arn = await on().start({ ...slice, source: await on().stage(NEW, CHUNK_ROWS) })
  const { event } = await atChunk.reached
  valkey().freeze()
  const before = on().relay.statements.length
  const begun = performance.now()
  const answer = await callAgain(on(), { task: 'DeleteChunk', event })
  expect(answer).toBe('LockUnreachable')
  // Connecting and a command take four; a busy machine is given more, but never the task's five minutes.
  expect(performance.now() - begun).toBeLessThan(60_000)
  const sent = on().relay.statements.slice(before)
  expect(sent.filter(({ sql }) => !/^(select|set (session|names)) /.test(sql))).toEqual([])
  valkey().thaw()
  atChunk.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, NEW)
})

test('a Valkey that evicts the lock and takes no new one stops the run cleanly, and it is resumed', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const source = await on().stage(NEW, CHUNK_ROWS)
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const arn = await on().start({ ...slice, source })
  await atChunk.reached
  await on().valkey.config('SET', 'maxmemory', '1', 'maxmemory-policy', 'volatile-lru')
  // The next command that needs memory evicts what has a TTL: the locks.
  await on()
    .valkey.set('filler', 'x')
    .catch(() => undefined)
  expect(await lockOf(on(), slice)).toBeNull()
  atChunk.release()
  // The lock is lost and no new one is to be had: that is what halts it.
  expect(await on().ended(arn)).toMatchObject({ status: 'FAILED', error: 'LockRefused' })
  await expectHalted(on(), slice, 'REGISTERING', 'LockRefused')
  await on().valkey.config('SET', 'maxmemory', '0')
  expect(await on().run({ ...slice, source })).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, NEW)
})

test('a full Valkey without eviction keeps the locks it has, and refuses new runs by name', async () => {
  const [slice, late] = [await on().newSlice(), await on().newSlice()]
  const source = await on().stage(NEW, CHUNK_ROWS)
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const arn = await on().start({ ...slice, source })
  await atChunk.reached
  await on().valkey.config('SET', 'maxmemory', '1')
  const refused = await on().run({ ...late, source })
  expect(refused).toMatchObject({ status: 'FAILED', error: 'LockRefused' })
  expect(refused.cause).toContain('Its memory is full')
  await expectUntouched(on(), late)
  atChunk.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, NEW)
})

test('a demoted Valkey is not believed about a lock, and the run goes on with the next primary', async () => {
  const slice = await on().newSlice()
  const source = await on().stage(NEW, CHUNK_ROWS)
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const arn = await on().start({ ...slice, source })
  await atChunk.reached
  // The run's own lock is readable on the replica, and so is everybody's who asks it.
  await on().valkey.call('replicaof', '127.0.0.1', '1')
  expect((await lockOf(on(), slice))?.token).toContain(arn.split(':').at(-1))
  expect(await on().run({ ...slice, source })).toMatchObject({ status: 'FAILED', error: 'LockUnreachable' })
  await on().valkey.call('replicaof', 'no', 'one')
  atChunk.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED', output: { reacquire: { count: 0 } } })
  await expectSettled(on(), slice, NEW)
})

test('an answered refusal halts a run that may proceed in an outage: others may well hold locks', async () => {
  const slice = await on().newSlice()
  const source = await on().stage(NEW, CHUNK_ROWS)
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const arn = await on().start({ ...slice, source, onOutage: 'proceed' })
  await atChunk.reached
  await on().valkey.call('acl', 'setuser', 'default', '-pexpire')
  atChunk.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'FAILED', error: 'LockMisconfigured' })
  await on().valkey.call('acl', 'setuser', 'default', '+pexpire')
  await expectHalted(on(), slice, 'REGISTERING', 'LockMisconfigured')
  expect(await on().run({ ...slice, source })).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, NEW)
})

test('a failover that forgets the lock lets a second run in, and every write of the first changes 0 rows', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const source = await on().stage(NEW, CHUNK_ROWS)
  const armed = on().relay.arm({
    task: 'RegisterChunk',
    sql: /^start transaction$/,
    moment: 'before',
    skip: 2,
    act: (statement) => statement.freeze(),
  })
  const first = await on().start({ ...slice, source })
  const frozen = await armed.hit
  const answer = answerOf(on(), frozen.pid)
  await on().valkey.flushall()
  const atMark = holdTask(on(), 'MarkRegistered', slice)
  const second = await on().start({ ...slice, source })
  await atMark.reached
  const before = await fingerprintOf(on(), slice)
  frozen.thaw()
  expect(await answer).toBe('StaleFence')
  expect(await fingerprintOf(on(), slice)).toBe(before)
  expect(await on().ended(first)).toMatchObject({ status: 'FAILED', error: 'StaleFence' })
  expect((await lockOf(on(), slice))?.token).toContain(second.split(':').at(-1))
  atMark.release()
  expect(await on().ended(second)).toMatchObject({ status: 'SUCCEEDED', output: { job: { fence: 2 } } })
  await expectSettled(on(), slice, NEW)
})
