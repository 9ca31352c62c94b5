import { expect, test } from 'vitest'
import { holdTask } from '../../support/faults.ts'
import { expectSettled, expectUntouched, fingerprintOf, jobsOf, settledRowsOf } from '../../support/invariants.ts'
import { replaceInPlace } from '../../support/replace-mode.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'

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
  expect(first.output).toMatchObject({ staged: { rows: 45_000, chunks: 4 }, release: { released: true } })
  await expectSettled(on(), slice, OCTOBER)

  const second = await on().run({ ...slice, source: await on().upload(CORRECTED) })
  expect(second).toMatchObject({ status: 'SUCCEEDED', output: { job: { outcome: 'opened' } } })
  await expectSettled(on(), slice, CORRECTED)

  const undo = await on().run({ ...slice, source: { undo: true } })
  expect(undo).toMatchObject({ status: 'SUCCEEDED', output: { staged: { digest: first.output.staged?.digest } } })
  await expectSettled(on(), slice, OCTOBER)

  await expectUntouched(on(), neighbour, SMALL)
  const { consumer } = on()
  await consumer.expectInStep(on())
  expect(consumer.typesOf(slice)).toEqual(['JobRegistered', 'JobRegistered', 'JobRegistered'])
  expect(consumer.deliveriesOf(slice)).toBe(3)
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
  const source = { staged: first.output.staged?.digest }
  await on().run({ ...november, source, confirmed: ['same-as-month'] })
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

test('while a month is replaced its readers see the set before, and then the new one', async () => {
  const slice = await on().newSlice()
  await on().run({ ...slice, source: await on().upload(OTHER) })
  const atChunk = holdTask(on(), 'RegisterChunk', slice, { skip: 1 })
  const arn = await on().start({ ...slice, source: await on().stage(SMALL, 20) })
  await atChunk.reached
  expect(await settledRowsOf(on(), slice)).toBe(OTHER.rows)
  await on().rows('call require_settled_slice(?, ?)', [slice.distributor, slice.month])
  const status = 'select status from slice_status where distributor = ? and settlement_month = ?'
  expect(await on().rows(status, [slice.distributor, `${slice.month}-01`])).toEqual([
    { status: 'settled, a new set is being registered' },
  ])
  atChunk.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, SMALL)
})

test('while a month is replaced in place its readers see no row of it, and are told why', async () => {
  const slice = await on().newSlice()
  await replaceInPlace(on(), slice)
  await on().run({ ...slice, source: await on().upload(OTHER) })
  const atChunk = holdTask(on(), 'RegisterChunk', slice, { skip: 1 })
  const arn = await on().start({ ...slice, source: await on().stage(SMALL, 20) })
  await atChunk.reached
  expect(await settledRowsOf(on(), slice)).toBe(0)
  const required = on().rows('call require_settled_slice(?, ?)', [slice.distributor, slice.month])
  await expect(required).rejects.toThrow(`${slice.distributor} 2026-10 is being replaced: job`)
  atChunk.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, SMALL)
})

test('ids beyond the integers of a double and shares of six decimals arrive digit by digit', async () => {
  const slice = await on().newSlice()
  const rows = ['9007199254740993,33.333333', '9007199254740992,33.333334', '00000000000000000007,.5e1']
  const csv = (lines: string[]) =>
    `share_note,isrc,right_type,party_id,share\n${lines.map((line) => `x,KR-A01-26-00001,MECHANICAL,${line}`).join('\n')}\n`
  expect(await on().run({ ...slice, source: await on().upload({ csv: csv(rows) }) })).toMatchObject({
    status: 'FAILED',
  })
  await on().run({ ...slice, source: await on().upload({ csv: csv(rows.slice(0, 2)) }) })
  const stored = await on().rows(
    `select s.isrc, s.party_id, s.share from settled_share_ratio s where s.distributor = ? order by party_id`,
    [slice.distributor],
  )
  expect(stored).toEqual([
    { isrc: 'KRA012600001', party_id: '9007199254740992', share: '33.333334' },
    { isrc: 'KRA012600001', party_id: '9007199254740993', share: '33.333333' },
  ])
})

test('an undo that was stopped half way is resumed by the same request, and goes back to the same set', async () => {
  const slice = await on().newSlice()
  await replaceInPlace(on(), slice)
  const first = await on().run({ ...slice, source: await on().upload(SMALL) })
  await on().run({ ...slice, source: await on().upload(OTHER) })
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const undo = await on().start({ ...slice, source: { undo: true } })
  await atChunk.reached
  await on().stop(undo)
  await on().ended(undo)
  atChunk.release()
  const again = await on().run({ ...slice, source: { undo: true } })
  expect(again).toMatchObject({ status: 'SUCCEEDED', output: { staged: { digest: first.output.staged?.digest } } })
  await expectSettled(on(), slice, SMALL)
})

test('nothing can be undone before the second registration of a month', async () => {
  const slice = await on().newSlice()
  expect(await on().run({ ...slice, source: { undo: true } })).toMatchObject({
    status: 'FAILED',
    error: 'NothingToUndo',
  })
  await on().run({ ...slice, source: await on().upload(SMALL) })
  const undo = await on().run({ ...slice, source: { undo: true } })
  expect(undo).toMatchObject({ status: 'FAILED', error: 'NothingToUndo' })
  expect(undo.cause).toContain(`${slice.distributor} 2026-10 has no other REGISTERED set before its newest job`)
  expect(await fingerprintOf(on(), slice)).toBe(SMALL.fingerprint)
})

test('an undo goes back to the set before the one that is registered, however often that was registered again', async () => {
  const slice = await on().newSlice()
  await on().run({ ...slice, source: await on().upload(OTHER) })
  for (const force of [false, true]) await on().run({ ...slice, source: await on().upload(SMALL), force })
  expect(await jobsOf(on(), slice)).toHaveLength(3)
  expect(await on().run({ ...slice, source: { undo: true } })).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, OTHER)
})

test('an undo behind which another file was registered before it had the lock is refused, and nothing is touched', async () => {
  const slice = await on().newSlice()
  for (const file of [OTHER, SMALL]) await on().run({ ...slice, source: await on().upload(file) })
  const atLock = holdTask(on(), 'AcquireLock', slice)
  const undo = await on().start({ ...slice, source: { undo: true } })
  await atLock.reached
  const third = shareFile(350, 14)
  expect(await on().run({ ...slice, source: await on().upload(third) })).toMatchObject({ status: 'SUCCEEDED' })
  atLock.release()
  const end = await on().ended(undo)
  expect(end).toMatchObject({ status: 'FAILED', error: 'PlanMoved' })
  expect(end.cause).toContain('has changed since this undo was begun')
  expect(await jobsOf(on(), slice)).toHaveLength(3)
  await expectSettled(on(), slice, third)
})
