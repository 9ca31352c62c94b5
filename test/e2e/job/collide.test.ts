import { expect, test } from 'vitest'
import { holdTask } from '../../support/faults.ts'
import { expectHalted, expectSettled, expectUntouched, jobsOf, lockOf } from '../../support/invariants.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'

/* Two and more runs of one slice at once: the schedule and operators, in the same hours. */
const on = useStack()

const MONTHLY = shareFile(400, 31)
const CORRECTED = shareFile(300, 32)

test('a second run is refused at once and told who holds the slice', async () => {
  const slice = await on().newSlice()
  const atPlan = holdTask(on(), 'PlanDelete', slice)
  const first = await on().start({ ...slice, source: await on().upload(MONTHLY) }, `first-${slice.distributor}`)
  await atPlan.reached
  const second = await on().run({ ...slice, source: await on().upload(CORRECTED) })
  expect(second).toMatchObject({ status: 'FAILED', error: 'LockHeld' })
  expect(second.cause).toContain(`is being replaced by the run first-${slice.distributor}; its lock lasts`)
  expect((await lockOf(on(), slice))?.token).toMatch(new RegExp(`^first-${slice.distributor}/`))
  atPlan.release()
  expect(await on().ended(first)).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, MONTHLY)
})

test.each([
  ['its own file', CORRECTED, 'opened'],
  ['the same file', MONTHLY, 'already registered'],
])('a run that waits goes on when the slice is free, with %s', async (_, file, outcome) => {
  const slice = await on().newSlice()
  const atPlan = holdTask(on(), 'PlanDelete', slice)
  const first = await on().start({ ...slice, source: await on().upload(MONTHLY) })
  await atPlan.reached
  const waiting = holdTask(on(), 'AcquireLock', slice, { skip: 2 })
  const second = await on().start({ ...slice, source: await on().upload(file), onHeld: 'wait' })
  // Refused twice already, the engine asks a third time.
  await waiting.reached
  atPlan.release()
  expect(await on().ended(first)).toMatchObject({ status: 'SUCCEEDED' })
  waiting.release()
  expect(await on().ended(second)).toMatchObject({ status: 'SUCCEEDED', output: { job: { outcome } } })
  await expectSettled(on(), slice, file)
})

test('of ten starts at once one runs and nine are refused naming it', async () => {
  const slice = await on().newSlice()
  const source = await on().upload(MONTHLY)
  const atOpen = holdTask(on(), 'OpenJob', slice)
  const names = Array.from({ length: 10 }, (_, number) => `start-${number}-${slice.distributor}`)
  const started = await Promise.all(names.map((name) => on().start({ ...slice, source }, name)))
  const { event } = await atOpen.reached
  const winner = (event as { execution: string }).execution
  const losers = started.filter((arn) => arn !== winner)
  expect(losers).toHaveLength(9)
  for (const arn of losers) {
    const end = await on().ended(arn)
    expect(end).toMatchObject({ status: 'FAILED', error: 'LockHeld' })
    expect(end.cause).toContain(`the run ${winner.split(':').at(-1)};`)
  }
  atOpen.release()
  expect(await on().ended(winner)).toMatchObject({ status: 'SUCCEEDED' })
  expect(await jobsOf(on(), slice)).toMatchObject([{ fence: 1, execution: winner }])
  await expectSettled(on(), slice, MONTHLY)
})

test('a start whose reply was lost, repeated under its name, is the same execution; another input is refused', async () => {
  const slice = await on().newSlice()
  const name = `${slice.distributor}-2026-10-1`
  const request = { ...slice, source: await on().upload(MONTHLY) }
  const atPlan = holdTask(on(), 'PlanDelete', slice)
  const arn = await on().start(request, name)
  await atPlan.reached
  expect(await on().start(request, name)).toBe(arn)
  await expect(on().start({ ...request, force: true }, name)).rejects.toMatchObject({ name: 'ExecutionAlreadyExists' })
  atPlan.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  await expect(on().start(request, name)).rejects.toMatchObject({ name: 'ExecutionAlreadyExists' })
  expect(await jobsOf(on(), slice)).toHaveLength(1)
})

test.each(['PlanDelete', 'DeleteChunk', 'MarkDeleted', 'BeginRegistering', 'RegisterChunk', 'MarkRegistered'])(
  'a run stopped before %s is halted, frees its lock, and is resumed to the last row',
  async (task) => {
    const slice = await on().newSlice()
    await on().seed(slice, CORRECTED)
    const source = await on().stage(MONTHLY, 50)
    const atTask = holdTask(on(), task, slice)
    const first = await on().start({ ...slice, source })
    await atTask.reached
    await on().stop(first)
    expect(await on().ended(first)).toMatchObject({ status: 'ABORTED' })
    const state = { MarkDeleted: 'DELETING', BeginRegistering: 'DELETED' }[task]
    const halted = await expectHalted(
      on(),
      slice,
      state ?? (task.endsWith('Delete') || task === 'DeleteChunk' ? 'DELETING' : 'REGISTERING'),
      'ExecutionABORTED',
    )
    // The stopped run's task comes late: what it holds is worth nothing any more.
    atTask.release()
    const resumed = await on().run({ ...slice, source })
    expect(resumed).toMatchObject({ status: 'SUCCEEDED', output: { job: { id: halted.id, outcome: 'taken over' } } })
    await expectSettled(on(), slice, MONTHLY)
  },
)

test('an open job is not resumed with another file: the refusal names both ways out, and each works', async () => {
  const slice = await on().newSlice()
  const source = await on().stage(MONTHLY, 50)
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const first = await on().start({ ...slice, source })
  await atChunk.reached
  await on().stop(first)
  await on().ended(first)
  atChunk.release()
  await expectHalted(on(), slice, 'REGISTERING')

  const corrected = await on().upload(CORRECTED)
  const refused = await on().run({ ...slice, source: corrected })
  expect(refused).toMatchObject({ status: 'FAILED', error: 'JobOpenError' })
  expect(refused.cause).toContain('has an open job of another file')
  const halted = await expectHalted(on(), slice, 'REGISTERING')

  const superseding = await on().run({ ...slice, source: corrected, supersede: true })
  expect(superseding).toMatchObject({ status: 'SUCCEEDED', output: { job: { outcome: 'superseding' } } })
  await expectSettled(on(), slice, CORRECTED)
  expect((await jobsOf(on(), slice)).map((job) => [job.state, job.closed_at === null])).toEqual([
    ['REGISTERED', true],
    ['REGISTERING', false],
  ])
  expect((await jobsOf(on(), slice))[1]?.id).toBe(halted.id)

  const back = await on().run({ ...slice, source })
  expect(back).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, MONTHLY)
})

test('a stopped run that never opened a job leaves nothing to halt', async () => {
  const slice = await on().newSlice()
  const atLock = holdTask(on(), 'AcquireLock', slice)
  const arn = await on().start({ ...slice, source: await on().upload(MONTHLY) })
  await atLock.reached
  await on().stop(arn)
  await on().ended(arn)
  await expectUntouched(on(), slice)
  atLock.release()
})
