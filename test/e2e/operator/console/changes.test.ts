import { afterEach, expect, test } from 'vitest'
import { holdTask } from '../../../support/faults.ts'
import { expectHalted, expectSettled, jobsOf } from '../../../support/invariants.ts'
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

test('a second start of the same file joins the run, and one of another file is refused', async () => {
  const slice = await on().newSlice()
  const atPlan = holdTask(on(), 'PlanDelete', slice)
  await kim().check(slice, MONTHLY)
  await kim().press('Start')
  await atPlan.reached
  await kim().check(slice, MONTHLY)
  await kim().press('Join the run')
  await kim().see('You joined it, and nothing new was started')
  await kim().check(slice, CORRECTED)
  await kim().see('A run with another source works on this month')
  await kim().press('Start')
  await kim().see(/^Another run works on this month: /)
  atPlan.release()
  await kim().openSlice(slice)
  await kim().status('settled')
  expect(await jobsOf(on(), slice)).toHaveLength(1)
  await settled(slice, MONTHLY)
})

test('a plan that another registration overtook is refused on its page, and nothing is started', async () => {
  const slice = await on().newSlice()
  await on().run({ ...slice, source: await on().upload(MONTHLY) })
  await kim().check(slice, { csv: `${MONTHLY.csv.trimEnd().split('\n').slice(0, -1).join('\n')}\n` })
  await kim().see(`Replace ${slice.distributor} 2026-10?`)
  await on().run({ ...slice, source: await on().upload(CORRECTED) })
  await kim().press('Start')
  await kim().see(/^What was shown has changed since: .* came since\. Nothing was started/)
  expect(await jobsOf(on(), slice)).toHaveLength(2)
  await settled(slice, CORRECTED)
})

test('a job is stopped, says why it halted, and is resumed', async () => {
  const slice = await on().newSlice()
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  await on().start({ ...slice, source: await on().upload(MONTHLY) })
  await atChunk.reached
  await kim().openSlice(slice)
  await kim().follow('Stop')
  await kim().page.getByLabel('Why (for the audit trail)').fill('the wrong file')
  await kim().press('Stop')
  await kim().status('halted')
  atChunk.release()
  await kim().see('halted here')
  await kim().see('What to do')
  await on().stack.lambda.settled()
  await expectHalted(on(), slice, 'REGISTERING')
  await kim().follow('Resume')
  expect(await kim().text()).toMatch(/Job \d+ halted in REGISTERING with 0 % done/)
  await kim().press('Resume')
  await kim().status('settled')
  expect(await jobsOf(on(), slice)).toHaveLength(1)
  await kim().see('the wrong file')
  await settled(slice, MONTHLY)
})

test('an undo brings the set before back, once its slice is typed', async () => {
  const slice = await on().newSlice()
  await on().run({ ...slice, source: await on().upload(MONTHLY) })
  await on().run({ ...slice, source: await on().upload(CORRECTED) })
  await kim().openSlice(slice)
  await kim().press('Undo')
  await kim().see(`Undo ${slice.distributor} 2026-10?`)
  const typed = kim().page.getByLabel(/^Type /)
  await typed.fill(`${slice.distributor} 2026-11`)
  await kim().press('Undo now')
  await kim().see(/^You did not type /)
  await settled(slice, CORRECTED)
  await typed.fill(`${slice.distributor} 2026-10`)
  await kim().press('Undo now')
  await kim().see('The undo has started.')
  await kim().see(/registered 400 rows/)
  await settled(slice, MONTHLY)
})

test('a lock is deleted and its job halted, once its slice is typed', async () => {
  const slice = await on().newSlice()
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const arn = await on().start({ ...slice, source: await on().upload(MONTHLY) })
  await atChunk.reached
  await kim().openSlice(slice)
  await kim().follow('Unlock')
  await kim()
    .page.getByLabel(/^Type /)
    .fill('something else')
  await kim().press('Unlock')
  await kim().see(/You did not type /)
  expect(await on().valkey.exists(on().lockKey(slice))).toBe(1)
  await kim()
    .page.getByLabel(/^Type /)
    .fill(`${slice.distributor} 2026-10`)
  await kim().press('Unlock')
  await kim().see('Unlocked.')
  await kim().see('Free: no run holds this month.')
  atChunk.release()
  await on().ended(arn)
  await expectHalted(on(), slice, 'REGISTERING')
})

test('a file that supersedes an open job is started after its box is ticked and its slice is typed', async () => {
  const slice = await on().newSlice()
  const atChunk = holdTask(on(), 'RegisterChunk', slice)
  const arn = await on().start({ ...slice, source: await on().upload(MONTHLY) })
  await atChunk.reached
  await on().stop(arn)
  await on().ended(arn)
  atChunk.release()
  await kim().check(slice, CORRECTED)
  await kim().see(/with another source is open in REGISTERING/)
  await kim().press('Start')
  await kim().see(/^Another run works on this month: /)
  await kim().page.getByLabel('Close the open job and begin with this file').check()
  await kim()
    .page.getByLabel(/^Type /)
    .fill(`${slice.distributor} 2026-10`)
  await kim().press('Start')
  await kim().see(/registered 390 rows/)
  await settled(slice, CORRECTED)
})
