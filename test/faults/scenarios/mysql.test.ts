import { expect, test } from 'vitest'
import { pause, WRITERS, within } from '../../support/faults.ts'
import { expectSettled, jobsOf } from '../../support/invariants.ts'
import type { Fault } from '../../support/relay.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'

/* MySQL restarts, refuses and loses connections in the middle of a run; the sandboxes live. */
const on = useStack({ own: ['mysql'], relay: true, mysql: { bufferPool: '128M', redoLog: '128M' } })

const OLD = shareFile(150, 81)
const NEW = shareFile(600, 82)
const CHUNK_ROWS = 50

const COMMIT = /^commit$/
const LOAD = /^load data/

const oldSlice = async (): Promise<TestSlice> => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  return slice
}

const expectOneRun = async (slice: TestSlice): Promise<void> => {
  await expectSettled(on(), slice, NEW)
  expect(await jobsOf(on(), slice)).toMatchObject([{ fence: 1 }])
}

test.each([
  ['before the COMMIT of every task', 'before'],
  ['after the COMMIT of every task, before its reply', 'after'],
] as const)('a connection cut %s is made anew, and counts are exact', async (_, moment) => {
  const slice = await oldSlice()
  const faults = WRITERS.map(
    (task): Fault => ({ task, sql: COMMIT, moment, skip: 0, times: 1, act: (statement) => statement.cut() }),
  )
  const armed = faults.map((fault) => on().relay.arm(fault))
  const end = await on().run({ ...slice, source: await on().stage(NEW, CHUNK_ROWS) })
  expect(armed.map((one) => one.hits())).toEqual(WRITERS.map(() => 1))
  expect(end).toMatchObject({ status: 'SUCCEEDED' })
  await expectOneRun(slice)
})

/** More than one transaction is tried in a task: the engine has to call again as well. */
const KILLS = 9

test('connections that are killed again and again, in the middle of transactions, delay the run and change nothing else', async () => {
  const slice = await oldSlice()
  const { user } = on().stack.database.app
  const killAll = async (): Promise<void> => {
    const sessions = await on().rows<{ id: number }>('select id from information_schema.processlist where user = ?', [
      user,
    ])
    // One that has ended by itself meanwhile is as good.
    for (const { id } of sessions)
      await on()
        .outside.query('kill ?', [id])
        .catch(() => undefined)
  }
  const armed = on().relay.arm({ task: 'RegisterChunk', sql: LOAD, moment: 'after', times: KILLS, act: killAll })
  const end = await on().run({ ...slice, source: await on().stage(NEW, CHUNK_ROWS) })
  expect(end).toMatchObject({ status: 'SUCCEEDED' })
  expect(armed.hits()).toBe(KILLS)
  await expectOneRun(slice)
})

test('a server that turns read only within a transaction is waited for, and no state moves meanwhile', async () => {
  const slice = await oldSlice()
  const armed = on().relay.arm({
    task: 'RegisterChunk',
    sql: LOAD,
    moment: 'before',
    skip: 3,
    act: () => on().outside.query('set global read_only = on'),
  })
  const arn = await on().start({ ...slice, source: await on().stage(NEW, CHUNK_ROWS) })
  await within(on(), arn, armed.hit)
  await pause(500)
  expect(await jobsOf(on(), slice)).toMatchObject([{ state: 'REGISTERING', halted_at: null }])
  await on().outside.query('set global read_only = off')
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  await expectOneRun(slice)
})

test('mysqld frozen for two seconds delays the run', async () => {
  const slice = await oldSlice()
  const { server } = on().stack.database
  const armed = on().relay.arm({
    task: 'RegisterChunk',
    sql: COMMIT,
    moment: 'before',
    skip: 2,
    act: () => server?.freeze(),
  })
  const arn = await on().start({ ...slice, source: await on().stage(NEW, CHUNK_ROWS) })
  await within(on(), arn, armed.hit)
  await pause(2_000)
  server?.thaw()
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  await expectOneRun(slice)
})

test.each([
  ['DeleteChunk', COMMIT, 'after', 0],
  ['RegisterChunk', LOAD, 'after', 5],
  ['RegisterChunk', COMMIT, 'after', 5],
] as const)(
  'mysqld killed in %s at %s (%s it) and restarted: the run ends with exact counts',
  async (task, sql, moment, skip) => {
    const slice = await oldSlice()
    const armed = on().relay.arm({ task, sql, moment, skip, act: () => on().stack.database.server?.kill() })
    const arn = await on().start({ ...slice, source: await on().stage(NEW, CHUNK_ROWS) })
    await within(on(), arn, armed.hit)
    await on().stack.database.server?.restart()
    await on().reconnect()
    expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
    await expectOneRun(slice)
  },
)
