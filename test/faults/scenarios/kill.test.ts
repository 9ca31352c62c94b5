import { expect, test } from 'vitest'
import { beforeTask, WRITERS } from '../../support/faults.ts'
import { expectHalted, expectSettled, jobsOf } from '../../support/invariants.ts'
import type { Fault } from '../../support/relay.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'

/*
 * kill -9 of a task's sandbox: at every statement where a crash could leave a half behind, once before MySQL gets it and
 * once after MySQL has done it and the sandbox does not know.
 */
const on = useStack({ relay: true })

const OLD = shareFile(150, 41)
const NEW = shareFile(600, 42)
const CHUNK_ROWS = 50

const kill = (task: string, sql: RegExp, moment: Fault['moment'], more: Partial<Fault> = {}): Fault => ({
  task,
  sql,
  moment,
  act: (statement) => statement.kill(),
  ...more,
})

const COMMIT = /^commit$/
const GUARD = /for share$/
const HEAD = /order by (j\.)?fence desc/
const MARK = /^update job_chunk set marked_at/

const oldSlice = async (): Promise<TestSlice> => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  return slice
}

/** In each round every task dies once, so the rounds are runs with about ten crashes each. */
test.each<[string, Fault[]]>([
  ['before it commits', WRITERS.map((task) => kill(task, COMMIT, 'before'))],
  ['after it has committed and does not know', WRITERS.map((task) => kill(task, COMMIT, 'after'))],
  [
    'with its first write done',
    [
      kill('StageSource', /from distributor/, 'after'),
      // The lock is set already; its answer is lost.
      kill('AcquireLock', HEAD, 'after'),
      kill('OpenJob', /^insert into job /, 'after'),
      kill('PlanDelete', /^insert into job_chunk/, 'after'),
      kill('DeleteChunk', MARK, 'after'),
      kill('MarkDeleted', /^update job set state/, 'after'),
      kill('BeginRegistering', /^insert into job_chunk/, 'after'),
      kill('RegisterChunk', MARK, 'after', { skip: 2 }),
      kill('RegisterChunk', /^load data/, 'before', { skip: 5 }),
      kill('MarkRegistered', /^insert into outbox/, 'after'),
    ],
  ],
  [
    'at its guard and with its rows written',
    [
      kill('DeleteChunk', GUARD, 'after'),
      kill('DeleteChunk', /^delete from share_ratio/, 'after'),
      kill('RegisterChunk', GUARD, 'after', { skip: 3 }),
      kill('RegisterChunk', /^load data/, 'after', { skip: 5 }),
    ],
  ],
])('a run whose every task is killed once %s ends with exact counts', async (_, faults) => {
  const slice = await oldSlice()
  const source = await on().stage(NEW, CHUNK_ROWS)
  const armed = faults.map((fault) => on().relay.arm(fault))
  const end = await on().run({ ...slice, source })
  expect(faults.filter((_fault, index) => armed[index]?.hits() !== 1)).toEqual([])
  expect(end).toMatchObject({ status: 'SUCCEEDED', output: { job: { state: 'REGISTERED', fence: 1 } } })
  await expectSettled(on(), slice, NEW)
  expect(await jobsOf(on(), slice)).toHaveLength(1)
})

test.each([
  ['before', 2],
  ['after', 1],
] as const)(
  'an event whose mark is lost %s it reached MySQL is delivered %i times under one id',
  async (moment, times) => {
    const slice = await oldSlice()
    on().relay.arm(kill('PublishEvents', /^update outbox/, moment))
    const end = await on().run({ ...slice, source: await on().stage(NEW, CHUNK_ROWS) })
    expect(end).toMatchObject({ status: 'SUCCEEDED' })
    await expectSettled(on(), slice, NEW)
    await on().consumer.expectInStep(on())
    expect(on().consumer.typesOf(slice)).toEqual(['JobRegistered'])
    expect(on().consumer.deliveriesOf(slice)).toBe(times)
  },
)

test.each([
  ['DeleteChunk', 'DELETING'],
  ['BeginRegistering', 'DELETED'],
  ['RegisterChunk', 'REGISTERING'],
])('%s killed at every attempt halts the job in %s, and a resume ends with exact counts', async (task, state) => {
  const slice = await oldSlice()
  const source = await on().stage(NEW, CHUNK_ROWS)
  const armed = on().relay.arm(kill(task, COMMIT, 'before', { times: 100 }))
  const end = await on().run({ ...slice, source })
  armed.disarm()
  expect(end).toMatchObject({ status: 'FAILED', error: 'Lambda.Unknown' })
  const halted = await expectHalted(on(), slice, state, 'Lambda.Unknown')
  const resumed = await on().run({ ...slice, source })
  expect(resumed).toMatchObject({ status: 'SUCCEEDED', output: { job: { id: halted.id, outcome: 'taken over' } } })
  await expectSettled(on(), slice, NEW)
})

test('HaltJob killed at every step leaves one halt, one event and a free lock', async () => {
  const slice = await oldSlice()
  const { staged } = await on().stage(NEW, CHUNK_ROWS)
  beforeTask(on(), 'BeginRegistering', slice, () => on().put(`staged/${staged}/000003.tsv`, 'damaged'))
  const faults = [
    kill('HaltJob', /^update job set fence/, 'after'),
    kill('HaltJob', COMMIT, 'before'),
    kill('HaltJob', COMMIT, 'after'),
  ]
  const armed = faults.map((fault) => on().relay.arm(fault))
  const end = await on().run({ ...slice, source: { staged } })
  expect(armed.map((one) => one.hits())).toEqual([1, 1, 1])
  expect(end).toMatchObject({ status: 'FAILED', error: 'StagedSourceDamaged' })
  const halted = await expectHalted(on(), slice, 'REGISTERING', 'StagedSourceDamaged')
  expect(halted.fence).toBe(2)
  expect(await on().rows('select type from outbox where job_id = ?', [halted.id])).toEqual([{ type: 'JobHalted' }])
})
