import { afterEach, expect, test } from 'vitest'
import { expectUntouched, jobsOf } from '../../../support/invariants.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import { useConsole } from './console-operator.ts'

/* Warnings and reports in the console: each warning is ticked by itself, and a report is saved and never shown. */
const on = useStack()
const kim = useConsole(on)
const HEADER = 'isrc,right_type,party_id,share\n'
const csv = `${HEADER}KRA012600001,PERFORMANCE,nan,50\nKRA012600002,PERFORMANCE,14107338.0,50\n`

afterEach(() => {
  expect(kim().misdeeds).toEqual([])
})

test('a file with warnings starts once every one of them is ticked', async () => {
  const slice = await on().newSlice()
  await kim().check(slice, { csv })
  await kim().see('All of this is legal and probably a mistake')
  await kim().see('line 3:')
  await kim().page.getByLabel('empty-ids is right').check()
  await kim().press('Start')
  expect(await jobsOf(on(), slice)).toEqual([])
  await kim().page.getByLabel('number-ids is right').check()
  await kim().press('Start')
  await kim().status('settled')
  const [job] = await jobsOf(on(), slice)
  await on().ended(job?.execution ?? '')
  await kim().see('confirmed')
})

test("a run that refused its file leads to its report, and a plan to its own; neither is shown as the console's page", async () => {
  const slice = await on().newSlice()
  const settled = shareFile(20, 4)
  await on().run({ ...slice, source: await on().upload(settled) })
  const end = await on().run({ ...slice, source: await on().upload({ csv }) })
  await kim().open(`/slices/${slice.distributor}/2026-10?execution=${encodeURIComponent(end.arn)}`)
  await kim().see('Report for the sender')
  const saved = async (name: string) => {
    const address = await kim().page.locator('main').getByRole('link', { name, exact: true }).getAttribute('href')
    const answer = await kim().page.request.get(`${kim().origin}${address}`)
    expect(answer.headers()['content-disposition']).toContain('attachment')
    return await answer.text()
  }
  expect(await saved('CSV')).toContain('number-ids')
  expect(await saved('HTML')).toContain('14107338.0')
  await kim().check(slice, { csv: `${HEADER}KRA012600001,PERFORMANCE,=1,50%\n` })
  expect(await saved('CSV')).toContain(`"'=1"`)
  await expectUntouched(on(), slice, settled)
})

test('the overview shows a file that the schedule did not start, and leads to its check', async () => {
  const slice = await on().newSlice()
  const key = `incoming/${slice.distributor}/2026-10.csv`
  await on().put(key, csv)
  await on().run({ ...slice, source: { key }, requestedBy: 'schedule' })
  await kim().open('/?to=2026-10')
  await kim().see('Not started by the schedule')
  await kim()
    .page.locator('#warned')
    .getByRole('link', { name: `${slice.distributor} 2026-10` })
    .click()
  expect(await kim().page.getByLabel('Or an uploaded object').inputValue()).toBe(key)
  await kim().press('Check the file')
  await kim().see('All of this is legal and probably a mistake')
})
