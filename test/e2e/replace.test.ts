import { expect, test } from 'vitest'
import { Consumer } from '../support/events.ts'
import { holdTask } from '../support/faults.ts'
import { expectSettled, expectUntouched, fingerprintOf, jobsOf } from '../support/invariants.ts'
import { shareFile } from '../support/share-file.ts'
import { useStack } from '../support/stack.ts'

/*
 * The main path, from StartExecution to the settlement programs' view: the synthesised machine, the production bundles,
 * real MySQL and Valkey.
 */
const on = useStack()

const OCTOBER = shareFile(45_000, 10)
const CORRECTED = shareFile(25_000, 11)
const SMALL = shareFile(400, 12)
const OTHER = shareFile(300, 13)

test('a month is registered, replaced by a corrected file, and taken back by an undo', async () => {
  const slice = await on().newSlice()
  const neighbour = await on().newSlice()
  await on().run({ ...neighbour, source: await on().upload(SMALL) })

  const first = await on().run({ ...slice, source: await on().upload(OCTOBER) })
  expect(first).toMatchObject({ status: 'SUCCEEDED', output: { job: { state: 'REGISTERED', outcome: 'opened' } } })
  expect(first.output).toMatchObject({ staged: { rows: 45_000, chunks: 3 }, release: { released: true } })
  await expectSettled(on(), slice, OCTOBER)

  const second = await on().run({ ...slice, source: await on().upload(CORRECTED) })
  expect(second).toMatchObject({ status: 'SUCCEEDED', output: { job: { outcome: 'opened' } } })
  await expectSettled(on(), slice, CORRECTED)

  const undo = await on().run({ ...slice, source: { undo: true } })
  expect(undo).toMatchObject({ status: 'SUCCEEDED', output: { staged: { digest: first.output.staged?.digest } } })
  await expectSettled(on(), slice, OCTOBER)

  await expectUntouched(on(), neighbour, SMALL)
  const consumer = new Consumer(on())
  await consumer.expectInStepWithOutbox(on())
  expect(consumer.typesOf(slice)).toEqual(['JobRegistered', 'JobRegistered', 'JobRegistered'])
  expect(consumer.deliveries).toHaveLength(consumer.byId.size)
})

test('the same file again is already registered: no new job, no row changed, no event', async () => {
  const slice = await on().newSlice()
  const source = await on().upload(SMALL)
  const first = await on().run({ ...slice, source })
  const again = await on().run({ ...slice, source })
  expect(again).toMatchObject({
    status: 'SUCCEEDED',
    output: { job: { id: first.output.job?.id, outcome: 'already registered' }, publish: { published: 0 } },
  })
  expect(await jobsOf(on(), slice)).toHaveLength(1)
  await expectSettled(on(), slice, SMALL)
})

test('the same shares in another order and under another name are the same file', async () => {
  const slice = await on().newSlice()
  await on().run({ ...slice, source: await on().upload(SMALL) })
  const [header = '', ...lines] = SMALL.csv.trimEnd().split('\n')
  const shuffled = await on().upload({ csv: `${[header, ...lines.reverse()].join('\r\n')}\r\n` })
  const again = await on().run({ ...slice, source: shuffled })
  expect(again.output.job?.outcome).toBe('already registered')
})

test('with force the same file replaces itself', async () => {
  const slice = await on().newSlice()
  const first = await on().run({ ...slice, source: await on().upload(SMALL) })
  const staged = first.output.staged?.digest ?? ''
  const forced = await on().run({ ...slice, source: { staged }, force: true })
  expect(forced).toMatchObject({ status: 'SUCCEEDED', output: { job: { outcome: 'opened', fence: 2 } } })
  expect(await jobsOf(on(), slice)).toHaveLength(2)
  await expectSettled(on(), slice, SMALL)
})

test('rows of an older system are replaced like any others', async () => {
  const slice = await on().newSlice()
  await on().seed(slice, OTHER)
  await on().run({ ...slice, source: await on().upload(SMALL) })
  await expectSettled(on(), slice, SMALL)
})

test('a staged source registers another month without the file', async () => {
  const october = await on().newSlice('2026-10')
  const november = { ...october, month: '2026-11' }
  const first = await on().run({ ...october, source: await on().upload(SMALL) })
  await on().run({ ...november, source: { staged: first.output.staged?.digest } })
  await expectSettled(on(), november, SMALL)
  await expectUntouched(on(), october, SMALL)
})

test('two distributors run at once, and neither changes a row of the other', async () => {
  const [one, two] = [await on().newSlice(), await on().newSlice()]
  const both = [
    await on().start({ ...one, source: await on().upload(SMALL) }),
    await on().start({ ...two, source: await on().upload(OTHER) }),
  ]
  for (const arn of both) expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), one, SMALL)
  await expectSettled(on(), two, OTHER)
})

test('a file that is overwritten during the run changes nothing: what was validated is registered', async () => {
  const slice = await on().newSlice()
  const source = await on().upload(SMALL)
  const atPlan = holdTask(on(), 'PlanDelete', slice)
  const arn = await on().start({ ...slice, source })
  await atPlan.reached
  await on().put(source.key, OTHER.csv)
  atPlan.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, SMALL)
})

test('nothing can be undone before the second registration of a month', async () => {
  const slice = await on().newSlice()
  expect(await on().run({ ...slice, source: { undo: true } })).toMatchObject({ status: 'FAILED', error: 'NothingToUndo' })
  await on().run({ ...slice, source: await on().upload(SMALL) })
  const undo = await on().run({ ...slice, source: { undo: true } })
  expect(undo).toMatchObject({ status: 'FAILED', error: 'NothingToUndo' })
  expect(undo.cause).toContain(`${slice.distributor} 2026-10 has no REGISTERED job before its newest one`)
  expect(await fingerprintOf(on(), slice)).toBe(SMALL.fingerprint)
})
