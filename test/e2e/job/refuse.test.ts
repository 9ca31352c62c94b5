import { expect, test } from 'vitest'
import { holdTask, recordCalls } from '../../support/faults.ts'
import { expectUntouched, jobsOf } from '../../support/invariants.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'

/* What is wrong with a request or a file ends the execution by name, with a sentence, before anything is touched. */
const on = useStack()

const SMALL = shareFile(200, 22)
const ROW = 'KRA012600001,PERFORMANCE,KOMCA.1,50\n'
const HEADER = 'isrc,right_type,party_id,share\n'

/** A slice that holds last month's file. */
const settledSlice = async (rules = {}): Promise<TestSlice> => {
  const slice = await on().newSlice('2026-10', rules)
  await on().run({ ...slice, source: await on().upload(SMALL) })
  return slice
}

test.each([
  ['a list', () => [1, 2], 'object'],
  ['a text', () => 'ARIA', 'object'],
  ['nothing', () => ({}), 'distributor'],
  ['an unknown field', (slice: TestSlice) => ({ ...slice, source: { undo: true }, forced: true }), 'forced'],
  [
    'a month that does not exist',
    (slice: TestSlice) => ({ ...slice, month: '2026-13', source: { undo: true } }),
    'month',
  ],
  ['two sources', (slice: TestSlice) => ({ ...slice, source: { key: 'incoming/a', undo: true } }), 'source'],
  ['a key outside of incoming/', (slice: TestSlice) => ({ ...slice, source: { key: 'staged/a' } }), 'source'],
  ['an unknown policy', (slice: TestSlice) => ({ ...slice, source: { undo: true }, onHeld: 'hope' }), 'onHeld'],
])('%s as input is refused, naming what is wrong', async (_, input, named) => {
  const end = await on().run(input({ distributor: 'ARIA', month: '2026-10' }) as object)
  expect(end).toMatchObject({ status: 'FAILED', error: 'InvalidInput' })
  expect(end.cause).toContain(named)
})

test('an unknown distributor is refused and not created, a different case of its code included', async () => {
  const { distributor } = await on().newSlice()
  for (const code of ['NOBODY', distributor.toLowerCase()]) {
    const end = await on().run({ distributor: code, month: '2026-10', source: { key: 'incoming/a.csv' } })
    expect(end).toMatchObject({ status: 'FAILED', error: 'UnknownDistributor' })
    expect(end.cause).toContain(`No distributor has the code ${code}`)
    expect(await on().rows('select id from distributor where code = ?', [code])).toEqual([])
  }
})

test('a file that is not there is named, and nothing is touched', async () => {
  const slice = await settledSlice()
  const end = await on().run({ ...slice, source: { key: 'incoming/october.csv' } })
  expect(end).toMatchObject({ status: 'FAILED', error: 'SourceMissing' })
  expect(end.cause).toContain('There is no file incoming/october.csv')
  await expectUntouched(on(), slice, SMALL)
})

test('a staged source that is not there is named', async () => {
  const slice = await settledSlice()
  const end = await on().run({ ...slice, source: { staged: 'ab'.repeat(32) } })
  expect(end).toMatchObject({ status: 'FAILED', error: 'InvalidInput' })
  await expectUntouched(on(), slice, SMALL)
})

test('a refused file names its lines in the cause, lists them in a report, and leaves the old rows', async () => {
  const slice = await settledSlice()
  const csv = `${HEADER}${ROW}KRA012600002,PERFORMANCE,KOMCA.1,33.3%\nKRA012600003,PERFORMANCE,KOMCA.1,1e2\n`
  const { calls, stop } = recordCalls(on(), slice)
  const end = await on().run({ ...slice, source: await on().upload({ csv }) }, `refused-${slice.distributor}`)
  stop()
  expect(end).toMatchObject({ status: 'FAILED', error: 'SourceRejected' })
  expect(end.cause).toContain(
    'has 2 errors and nothing was changed: line 3, column 4: share "33.3%" has a percent sign',
  )
  const report = `rejected/${slice.distributor}/2026-10/refused-${slice.distributor}.json`
  expect(end.cause).toContain(report)
  expect(JSON.parse(await on().get(report))).toMatchObject({
    total: 2,
    errors: [
      { line: 3, rule: 'share-percent-sign' },
      { line: 4, rule: 'share-exponent' },
    ],
  })
  expect(calls.map((call) => call.task)).toEqual(['StageSource'])
  expect(await jobsOf(on(), slice)).toHaveLength(1)
  await expectUntouched(on(), slice, SMALL)
})

test.each([
  ['no byte', ''],
  ['a byte order mark only', '\ufeff'],
  ['a header only', HEADER],
  ['blank lines only', '\n\r\n\n'],
  ['shares above 100', `${HEADER}${ROW}KRA012600001,PERFORMANCE,KOMCA.2,60\n`],
  ['one key twice', `${HEADER}${ROW}${ROW}`],
  ['a share that has no exact place', `${HEADER}KRA012600001,PERFORMANCE,KOMCA.1,33.3333333\n`],
])('a file of %s is refused and the old rows stay', async (_, csv) => {
  const slice = await settledSlice()
  const end = await on().run({ ...slice, source: await on().upload({ csv }) })
  expect(end).toMatchObject({ status: 'FAILED', error: 'SourceRejected' })
  await expectUntouched(on(), slice, SMALL)
})

test("a distributor's own rules decide: under exact, shares below 100 are refused", async () => {
  const [atMost, exact] = [await on().newSlice(), await on().newSlice('2026-10', { sumRule: 'exact' })]
  const source = await on().upload({ csv: HEADER + ROW })
  expect(await on().run({ ...atMost, source })).toMatchObject({ status: 'SUCCEEDED' })
  expect(await on().run({ ...exact, source })).toMatchObject({ status: 'FAILED', error: 'SourceRejected' })
})

test('no lock is held while a file is read, so a bad file keeps nobody waiting', async () => {
  const slice = await settledSlice()
  const atStage = holdTask(on(), 'StageSource')
  const slow = await on().start({ ...slice, source: await on().upload({ csv: HEADER }) })
  await atStage.reached
  await expectUntouched(on(), slice, SMALL)
  const other = await on().run({ ...slice, source: await on().upload(shareFile(100, 23)) })
  expect(other).toMatchObject({ status: 'SUCCEEDED' })
  atStage.release()
  expect(await on().ended(slow)).toMatchObject({ status: 'FAILED', error: 'SourceRejected' })
})

test("another distributor's staged source is refused: these rules never judged it", async () => {
  const slice = await settledSlice()
  const [job] = await jobsOf(on(), slice)
  const other = await on().newSlice()
  const staged = await on().rows<{ digest: string }>('select source_digest as digest from job where id = ?', [
    job?.id ?? 0,
  ])
  const end = await on().run({ ...other, source: { staged: staged[0]?.digest } })
  expect(end).toMatchObject({ status: 'FAILED', error: 'InvalidInput' })
  expect(end.cause).toContain(other.distributor)
  expect(await jobsOf(on(), other)).toEqual([])
})
