import { afterEach, expect, test } from 'vitest'
import { holdTask } from '../../../support/faults.ts'
import { expectSettled, expectUntouched, jobsOf } from '../../../support/invariants.ts'
import { type ShareFile, shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'
import { useConsole } from './console-operator.ts'

/* What operators do, in a browser, against the local stack: every outcome is looked up in MySQL as well. */
const on = useStack()
const kim = useConsole(on)
const MONTHLY = shareFile(400, 61)
const CORRECTED = shareFile(390, 62)

/** The run has ended and released its lock, and the slice holds the file. */
const settled = async (slice: TestSlice, file: ShareFile): Promise<void> => {
  const [newest] = await jobsOf(on(), slice)
  await on().ended(newest?.execution ?? '')
  await expectSettled(on(), slice, file)
}

afterEach(() => {
  expect(kim().misdeeds).toEqual([])
})

test('a file is started from the page and comes to REGISTERED without a reload', async () => {
  const slice = await on().newSlice()
  await kim().check(slice, MONTHLY)
  await kim().see(`Replace ${slice.distributor} 2026-10?`)
  expect(await kim().text()).toMatch(/Added ?400/)
  await kim().page.getByLabel('Why (for the audit trail)').fill('the monthly file')
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  await kim().press('Start')
  await kim().see('Started.')
  await kim().status('being replaced')
  await kim().page.evaluate('document.body.dataset.kept = "yes"')
  await atChunk.reached
  await kim().status('REGISTERING')
  expect(await kim().text('[aria-current=step]')).toContain('REGISTERING')
  expect(
    await kim()
      .page.getByRole('img', { name: /^New rows registered/ })
      .getAttribute('aria-label'),
  ).toContain('0 of 1 chunks')
  expect(await kim().text()).toMatch(/Holder ?\S+-2026-10-/)
  atChunk.release()
  await kim().status('settled')
  await kim().see(/registered 400 rows/)
  expect(await kim().page.getByRole('img', { name: 'New rows registered: 1 of 1 chunks' }).count()).toBe(1)
  expect(await kim().page.getAttribute('body', 'data-kept')).toBe('yes')
  await kim().see('the monthly file')
  await settled(slice, MONTHLY)
})

test('the overview shows a month as late, running and settled, by itself', async () => {
  const [slice, other] = [await on().newSlice(), await on().newSlice()]
  await on().run({ ...other, source: await on().upload(CORRECTED) })
  await kim().open('/')
  const cell = `td a[href$="/slices/${slice.distributor}/2026-10"]`
  const older = `td a[href$="/slices/${slice.distributor}/2026-09"]`
  const cellSays = (hasText: string) => kim().page.locator(cell, { hasText }).waitFor()
  await cellSays('Late')
  expect(await kim().page.getAttribute(older, 'aria-label')).toContain('No job')
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  await on().start({ ...slice, source: await on().upload(MONTHLY) })
  await atChunk.reached
  await cellSays('REGISTERING')
  expect(await kim().text(cell)).toContain('0 %')
  atChunk.release()
  await cellSays('400 rows')
})

test('a bad file is refused with its lines, rules and values, which are shown as they are written', async () => {
  const slice = await on().newSlice()
  const bad = ['KRA012600001,PERFORMANCE,KOMCA.1,33.3%', 'KRA012600002,PERFORMANCE,<img src=x onerror=alert(1)>,50']
  await kim().check(slice, { csv: `isrc,right_type,party_id,share\n${bad.join('\n')}\n` })
  await kim().see(`The file for ${slice.distributor} 2026-10 is refused`)
  await kim().see('The first 2 of 2 errors')
  const text = await kim().text()
  expect(text).toMatch(/2\s+share\s+33\.3%\s+.*has a percent sign.*share-percent-sign/s)
  expect(text).toContain('<img src=x onerror=alert(1)>')
  expect(await kim().page.locator('main img').count()).toBe(0)
  expect(await kim().page.getByRole('button', { name: 'Start' }).count()).toBe(0)
  await expectUntouched(on(), slice)
  expect(await jobsOf(on(), slice)).toEqual([])
})

test('a run that fails before it has a job says why on the page that started it', async () => {
  const slice = await on().newSlice()
  const source = await on().upload(MONTHLY)
  await kim().check(slice, source)
  await on().put(source.key, 'isrc,right_type,party_id,share\n')
  await kim().press('Start')
  await kim().see(/^The run \S+ did not succeed/)
  await kim().see('SourceRejected')
  await expectUntouched(on(), slice)
})

test('a start is made with the keyboard alone', async () => {
  const slice = await on().newSlice()
  const { key } = await on().upload(MONTHLY)
  const { keyboard } = kim().page
  await kim().open('/')
  await keyboard.press('Tab')
  expect(await kim().focused()).toBe('Skip to the content')
  await kim().tabTo('Start with a file')
  await keyboard.press('Enter')
  await kim().page.waitForURL('**/start')
  await kim().tabTo('distributor')
  await keyboard.type(slice.distributor)
  await kim().tabTo('month')
  await keyboard.press('ControlOrMeta+a')
  await keyboard.type('2026-10')
  await kim().tabTo('key')
  await keyboard.type(key)
  await keyboard.press('Enter')
  await kim().page.waitForURL('**/plans/*')
  await kim().tabTo('Start')
  expect(await kim().page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
  await keyboard.press('Enter')
  await kim().see(/registered 400 rows/)
  await settled(slice, MONTHLY)
})

test('the focus stays where it is while the page keeps itself fresh', async () => {
  const slice = await on().newSlice()
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  await on().start({ ...slice, source: await on().upload(MONTHLY) })
  await atChunk.reached
  await kim().openSlice(slice)
  await kim().status('REGISTERING')
  await kim().page.locator('#start').focus()
  atChunk.release()
  await kim().status('settled')
  expect(await kim().page.evaluate('document.activeElement.id')).toBe('start')
})
