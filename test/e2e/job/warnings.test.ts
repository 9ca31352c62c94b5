import { describe, expect, test } from 'vitest'
import { recordCalls } from '../../support/faults.ts'
import { expectUntouched, jobsOf } from '../../support/invariants.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'

/* What is legal in a file and almost always a mistake is registered only where somebody confirmed it by its name. */
const on = useStack()

const SMALL = shareFile(200, 22)
const HEADER = 'isrc,right_type,party_id,share\n'
/** The file of case 1: a data frame wrote it. */
const MADE_BY_TOOL = `${HEADER}KRA012600001,PERFORMANCE,nan,50\nKRA012600002,None,14107338.0,50\nKRA012600003,PERFORMANCE,nan,50\n`
/** The file of case 2: quarters as 0.25. */
const FRACTIONS = `${HEADER}KRA012600001,PERFORMANCE,A,0.25\nKRA012600001,PERFORMANCE,B,0.75\nKRA012600002,PERFORMANCE,A,1\nKRA012600003,PERFORMANCE,A,1\n`

const settledSlice = async (rules = {}): Promise<TestSlice> => {
  const slice = await on().newSlice('2026-10', rules)
  await on().run({ ...slice, source: await on().upload(SMALL) })
  return slice
}

const refusedFor = async (slice: TestSlice, request: object, ...names: string[]) => {
  const end = await on().run({ ...slice, ...request })
  expect(end).toMatchObject({ status: 'FAILED', error: 'WarningsUnconfirmed' })
  for (const name of names) expect(end.cause).toContain(name)
  return end
}

describe('ids that a tool made', () => {
  test('end the run before anything is locked, with their lines and counts; the old rows stay', async () => {
    const slice = await settledSlice()
    const { calls, stop } = recordCalls(on(), slice)
    const source = await on().upload({ csv: MADE_BY_TOOL })
    const end = await refusedFor(
      slice,
      { source },
      'empty-ids (3), number-ids (1)',
      'line 2 ("nan")',
      'line 3 ("NONE")',
    )
    stop()
    expect(calls.map((call) => call.task)).toEqual(['StageSource'])
    const report = `rejected/${slice.distributor}/2026-10/${end.name}`
    expect(JSON.parse(await on().get(`${report}.json`))).toMatchObject({
      total: 0,
      warnings: [
        { name: 'empty-ids', count: 3, examples: [{ line: 2 }, { line: 3 }, { line: 4 }] },
        { name: 'number-ids', count: 1, examples: [{ line: 3, field: 'party_id', value: '14107338.0' }] },
      ],
    })
    expect(await on().get(`${report}.csv`)).toContain('"warning","number-ids",,3,')
    expect(await on().get(`${report}.html`)).toContain('14107338.0')
    expect(await jobsOf(on(), slice)).toHaveLength(1)
    await expectUntouched(on(), slice, SMALL)
  })

  test('are registered where every one is confirmed, and not where one is left out', async () => {
    const slice = await on().newSlice()
    const source = await on().upload({ csv: MADE_BY_TOOL })
    const end = await refusedFor(slice, { source, confirmed: ['number-ids', 'fractions'] }, 'empty-ids (3)')
    expect(end.cause).not.toContain('number-ids (')
    const good = await on().run({ ...slice, source, confirmed: ['number-ids', 'empty-ids'] })
    expect(good).toMatchObject({ status: 'SUCCEEDED' })
  })

  test('are refused under strict, whoever confirmed them', async () => {
    const slice = await on().newSlice()
    const source = await on().upload({ csv: MADE_BY_TOOL })
    await refusedFor(slice, { source, confirmed: ['number-ids', 'empty-ids'], strict: true }, 'takes none')
    expect(await on().run({ ...slice, source: await on().upload(SMALL), strict: true })).toMatchObject({
      status: 'SUCCEEDED',
    })
  })

  test('an unknown name is no confirmation', async () => {
    const slice = await on().newSlice()
    const end = await on().run({ ...slice, source: { undo: true }, confirmed: ['everything'] })
    expect(end).toMatchObject({ status: 'FAILED', error: 'InvalidInput' })
    expect(end.cause).toContain('confirmed')
  })

  test('an IPI of eleven zeros is asked about', async () => {
    const slice = await on().newSlice('2026-10', { partyScheme: 'ipi' })
    const source = await on().upload({ csv: `${HEADER}KRA012600001,PERFORMANCE,00000000000,50\n` })
    await refusedFor(slice, { source }, 'zero-ids (1)')
  })
})

test('shares as fractions are asked about, and under exact named as the cause', async () => {
  const [atMost, exact] = [await settledSlice(), await on().newSlice('2026-10', { sumRule: 'exact' })]
  const source = await on().upload({ csv: FRACTIONS })
  await refusedFor(atMost, { source }, 'fractions (3)', 'multiply every share by 100')
  await expectUntouched(on(), atMost, SMALL)
  const end = await on().run({ ...exact, source })
  expect(end).toMatchObject({ status: 'FAILED', error: 'SourceRejected' })
  expect(end.cause).toContain('look like fractions')
})

describe('the other months', () => {
  test("last month's file sent again is asked about, whatever key and order it has", async () => {
    const { distributor } = await settledSlice()
    const november = { distributor, month: '2026-11' }
    const [header = '', ...rows] = SMALL.csv.trimEnd().split('\n')
    const source = await on().upload({ csv: [header, ...rows.reverse()].join('\r\n') })
    await refusedFor(november, { source }, 'same-as-month (200)', '2026-10 (job')
    expect(await jobsOf(on(), november)).toEqual([])
    const again = await on().run({ ...november, source, confirmed: ['same-as-month'] })
    expect(again).toMatchObject({ status: 'SUCCEEDED' })
  })

  test("another distributor's month, and one that was never registered, are no match", async () => {
    await settledSlice()
    const other = await on().newSlice('2026-11')
    expect(await on().run({ ...other, source: await on().upload(SMALL) })).toMatchObject({ status: 'SUCCEEDED' })
  })

  test('a column that names another month is asked about', async () => {
    const slice = await on().newSlice()
    const csv = `settlement_month,${HEADER}2026-09,KRA012600001,PERFORMANCE,A,50\n2026-10,KRA012600002,PERFORMANCE,A,50\n`
    await refusedFor(slice, { source: await on().upload({ csv }) }, 'other-month (1)', 'line 2 ("2026-09")')
  })

  test('far fewer rows than the month before are asked about, and far more', async () => {
    const { distributor } = await settledSlice()
    const november = { distributor, month: '2026-11' }
    await refusedFor(november, { source: await on().upload(shareFile(60, 23)) }, 'row-count', '2026-10 (job')
    await refusedFor(november, { source: await on().upload(shareFile(500, 23)) }, 'row-count')
    const like = await on().run({ ...november, source: await on().upload(shareFile(300, 23)) })
    expect(like).toMatchObject({ status: 'SUCCEEDED' })
  })
})

test('an undo to a set whose warnings were confirmed is not asked again, and is refused under strict', async () => {
  const slice = await on().newSlice()
  const confirmed = ['number-ids', 'empty-ids']
  const first = { ...slice, source: await on().upload({ csv: MADE_BY_TOOL }), confirmed }
  expect(await on().run(first)).toMatchObject({ status: 'SUCCEEDED' })
  expect(await on().run({ ...slice, source: await on().upload(SMALL) })).toMatchObject({ status: 'SUCCEEDED' })
  await refusedFor(slice, { source: { undo: true }, strict: true }, 'empty-ids (3)')
  expect(await on().run({ ...slice, source: { undo: true } })).toMatchObject({ status: 'SUCCEEDED' })
})

test.each(['exact', 'at-most'])(
  'two hundred parties of 1 % are 200 % under %s: no tolerance of whole numbers passes the cap',
  async (sumRule) => {
    const slice = await settledSlice({ sumRule })
    const rows = (parties: number) =>
      Array.from({ length: parties }, (_, party) => `KRA012600001,PERFORMANCE,P${party},1\n`).join('')
    const end = await on().run({ ...slice, source: await on().upload({ csv: HEADER + rows(200) }) })
    expect(end).toMatchObject({ status: 'FAILED', error: 'SourceRejected' })
    expect(end.cause).toContain('200.000000, is above 100 by more than rounding explains')
    await expectUntouched(on(), slice, SMALL)
    // The cap itself: one percentage point, and not one more.
    const [last, first] = [102, 101].map((parties) => on().upload({ csv: HEADER + rows(parties) }))
    expect(await on().run({ ...slice, source: await last })).toMatchObject({ error: 'SourceRejected' })
    const confirmed = ['row-count']
    expect(await on().run({ ...slice, source: await first, confirmed })).toMatchObject({ status: 'SUCCEEDED' })
  },
)
