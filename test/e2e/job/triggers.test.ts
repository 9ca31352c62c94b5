import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { putDistributor } from '../../../functions/store/distributor.ts'
import { Database } from '../../../functions/store/mysql/database.ts'
import type { HistoryEvent } from '../../../local/engine/history.ts'
import { holdTask } from '../../support/faults.ts'
import { expectSettled } from '../../support/invariants.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'

/*
 * What starts jobs and what cleans up after them, on the local stack: the dispatch machine and the sweeper from the same
 * template, and the smoke job from a process of its own, as the pipeline runs it.
 */
const on = useStack({ pace: { retryMs: 50, waitMs: 10 } })
const run = promisify(execFile)

beforeAll(async () => {
  const database = new Database(on().stack.database.masterAddress)
  await putDistributor(database, {
    code: 'SMOKE',
    name: 'smoke',
    active: false,
    sumRule: 'exact',
    partyScheme: 'opaque',
  })
  await database.close()
})

const dispatch = async (input: object) => {
  const { engine, machineArns } = on().stack
  const arn = Object.entries(machineArns).find(([name]) => name.startsWith('Dispatch'))?.[1] ?? ''
  const execution = engine.start(arn, JSON.stringify(input))
  await execution.ended
  return { status: execution.status, output: JSON.parse(execution.output ?? 'null') }
}

/** The dispatch has handed a start over and waits. */
const isAwaiting = (events: readonly HistoryEvent[]): boolean => events.at(-1)?.type === 'TaskStarted'

const TEST_MS = 60_000

describe('the smoke job', () => {
  test('registers its file through the SDK, finds it registered, and says so', async () => {
    const { stdout } = await run(process.execPath, ['bin/smoke.ts'], {
      env: { PATH: process.env.PATH, ...on().stack.environment },
    })
    expect(stdout).toMatch(
      /ok {2}the job is REGISTERED\nok {2}the number of rows is 200\nok {2}the same again is already/,
    )
  })

  test('fails with a sentence where the distributor is unknown', async () => {
    const env = { PATH: process.env.PATH, ...on().stack.environment, SMOKE_DISTRIBUTOR: 'NOBODY' }
    const failed = run(process.execPath, ['bin/smoke.ts'], { env })
    await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(/UnknownDistributor.*NOBODY/) })
  })
})

describe('the dispatch', () => {
  test('starts a job for whose file is there, names the others, starts nothing twice, and leaves a correction alone', async () => {
    const file = shareFile(400, 21)
    const [present, absent] = [await on().newSlice(), await on().newSlice()]
    const key = `incoming/${present.distributor}/${present.month}.csv`
    await on().put(key, file.csv)
    const first = await dispatch({ month: present.month })
    expect(first).toMatchObject({ status: 'SUCCEEDED', output: { month: { month: present.month } } })
    expect(first.output.month.starts).toContainEqual({
      ...{ distributor: present.distributor, ending: 'csv', head: null },
      run: expect.stringMatching(/^scheduled-[0-9a-f]{12}$/),
    })
    expect(first.output.month.missing).toContainEqual({ distributor: absent.distributor, reason: 'no file' })
    expect(first.output.outcomes).toEqual(['registered'])
    const started = on()
      .stack.engine.executions()
      .find(({ name }) => name.startsWith(`${present.distributor}-${present.month}-scheduled-`))
    await started?.ended
    expect(started?.status).toBe('SUCCEEDED')
    await expectSettled(on(), present, file)
    const second = await dispatch({ month: present.month })
    expect(second.output).toMatchObject({ outcomes: [], month: { starts: [], left: [] } })
    expect(second.output.month.already).toMatchObject([{ distributor: present.distributor }])
    const correction = shareFile(390, 22)
    await on().run({ ...present, source: await on().upload(correction), requestedBy: 'kim' })
    await on().put(key, shareFile(410, 23).csv)
    const third = await dispatch({ month: present.month })
    expect(third).toMatchObject({ status: 'SUCCEEDED', output: { outcomes: [], month: { starts: [] } } })
    expect(third.output.month.left).toMatchObject([
      { distributor: present.distributor, reason: expect.stringMatching(/^job \d+, requested by kim, REGISTERED at /) },
    ])
    await expectSettled(on(), present, correction)
    // What the dispatch tells people, it tells them on a topic of their own.
    await on().consumer.expectInStep(on())
  })
})

describe('a dispatched run that ended before its job was open', () => {
  test('is started again by the next dispatch, under its next name, and registers the month', async () => {
    const slice = await on().newSlice('2026-07')
    const file = shareFile(400, 26)
    await on().put(`incoming/${slice.distributor}/${slice.month}.csv`, file.csv)
    const atStage = holdTask(on(), 'StageSource')
    const awaiting = dispatch({ month: slice.month })
    await atStage.reached
    const runs = () =>
      on()
        .stack.engine.executions()
        .filter(({ name }) => name.startsWith(`${slice.distributor}-`))
    const [first] = runs()
    const awaits = () =>
      on()
        .stack.engine.executions()
        .filter(({ input, history }) => isAwaiting(history.events) && JSON.parse(input).month === slice.month).length
    // Under the name of the one that runs: it awaits that very run.
    const beside = dispatch({ month: slice.month })
    await expect.poll(() => awaits(), { timeout: TEST_MS }).toBe(2)
    expect(runs(), 'while it runs it is not started twice').toHaveLength(1)
    await on().stop(first?.arn ?? '')
    atStage.release()
    await on().ended(first?.arn ?? '')
    for (const { output } of await Promise.all([awaiting, beside]))
      expect(output.outcomes).toEqual(['ended without success'])
    expect((await dispatch({ month: slice.month })).output.outcomes).toEqual(['registered'])
    const again = runs().find(({ name }) => name === `${first?.name}-try2`)
    expect(await on().ended(again?.arn ?? '')).toMatchObject({ status: 'SUCCEEDED' })
    await expectSettled(on(), slice, file)
    expect((await dispatch({ month: slice.month })).output).toMatchObject({ outcomes: [], month: { starts: [] } })
  })
})

describe('an operator who began before the dispatch and had no job open yet', () => {
  test('wins: the dispatched run waits for the lock, is refused by name, and the dispatch is green', async () => {
    const slice = await on().newSlice('2026-08')
    await on().put(`incoming/${slice.distributor}/${slice.month}.csv`, shareFile(400, 24).csv)
    const correction = shareFile(390, 25)
    const atOpen = holdTask(on(), 'OpenJob', slice)
    const operators = await on().start({ ...slice, source: await on().upload(correction), requestedBy: 'kim' })
    await atOpen.reached
    const waits = holdTask(on(), 'AcquireLock', slice, { skip: 1 })
    const dispatched = dispatch({ month: slice.month })
    await waits.reached
    waits.release()
    atOpen.release()
    expect(await on().ended(operators)).toMatchObject({ status: 'SUCCEEDED' })
    expect(await dispatched).toMatchObject({ status: 'SUCCEEDED', output: { outcomes: ['ended without success'] } })
    const run = on()
      .stack.engine.executions()
      .find(({ name }) => name.startsWith(`${slice.distributor}-${slice.month}-scheduled-`))
    expect(await on().ended(run?.arn ?? '')).toMatchObject({ status: 'FAILED', error: 'PlanMoved' })
    await expectSettled(on(), slice, correction)
  })
})

describe('the sweeper', () => {
  test('runs from the template, publishes and counts', async () => {
    const { lambda } = on().stack
    const name = lambda.functionNames.find((each) => each.endsWith('Sweep')) ?? ''
    const outcome = await lambda.invoke(name, JSON.stringify({ registeredByDay: 28, monthsBack: 1 }))
    expect(outcome).toMatchObject({ payload: expect.stringMatching(/"halted":\[\]/) })
  })
})
