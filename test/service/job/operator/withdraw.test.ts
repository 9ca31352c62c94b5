import { afterAll, beforeAll, expect, test } from 'vitest'
import { holdTask, within } from '../../../support/faults.ts'
import { expectSettled, jobsOf, lockOf, settledRowsOf } from '../../../support/invariants.ts'
import { KIM, operatorFunctions } from '../../../support/operator-functions.ts'
import { connectOutside } from '../../../support/outside.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/* A set that was registered under the wrong month is taken from the readers, and shown again. */
const on = useStack()
let kim: ReturnType<typeof operatorFunctions>

beforeAll(() => {
  kim = operatorFunctions(on())
})

afterAll(() => kim.close())

const OLD = shareFile(150, 61)
const WRONG = shareFile(200, 62)

const registered = async (...files: (typeof OLD)[]): Promise<{ slice: TestSlice; job: number }> => {
  const slice = await on().newSlice()
  for (const file of files)
    expect(await on().run({ ...slice, source: await on().upload(file) })).toMatchObject({ status: 'SUCCEEDED' })
  const [newest] = await jobsOf(on(), slice)
  return { slice, job: newest?.id ?? 0 }
}
const withdraw = (job: number) => kim.act({ action: 'withdraw', job, ...KIM })
const statusOf = async (slice: TestSlice) =>
  (
    await on().rows<{ status: string }>(
      'select status from slice_status where distributor = ? and settlement_month = ?',
      [slice.distributor, `${slice.month}-01`],
    )
  )[0]?.status
const require = (slice: TestSlice) => on().rows('call require_settled_slice(?, ?)', [slice.distributor, slice.month])

test('a first set is withdrawn: readers see none, the trail and an event say so, and an undo shows it again', async () => {
  const { slice, job } = await registered(WRONG)
  expect(await withdraw(job)).toEqual({ job, ...slice, withdrawn: true })
  expect(await settledRowsOf(on(), slice)).toBe(0)
  expect(await statusOf(slice)).toBe('withdrawn')
  await expect(require(slice)).rejects.toThrow(`is withdrawn: job ${job} is REGISTERED`)
  expect(await lockOf(on(), slice)).toBeNull()
  // Its reply was lost, and the operator does it again.
  expect(await withdraw(job)).toEqual({ job, ...slice, withdrawn: false })
  const report = await kim.ask({ question: 'slice', ...slice })
  expect(report).toMatchObject({
    active: null,
    undo: { job },
    jobs: [{ status: 'withdrawn', fence: 2, at: { withdrawn: expect.any(String) } }],
  })
  expect(report.audit.filter(({ action }) => action === 'withdraw')).toMatchObject([{ ...KIM, job }])
  const events = await on().rows<{ payload: object }>(
    `select payload from outbox where type = 'JobWithdrawn' and job_id = ?`,
    [job],
  )
  expect(events).toMatchObject([{ payload: { ...slice, job, fence: 2, rows: WRONG.rows, requestedBy: KIM.caller } }])

  const undo = await on().run({ ...slice, source: { undo: true } })
  expect(undo).toMatchObject({ status: 'SUCCEEDED', output: { job: { state: 'REGISTERED', fence: 3 } } })
  await expectSettled(on(), slice, WRONG)
  expect(await statusOf(slice)).toBe('settled')
})

test('the same file again shows a withdrawn set, and no row is registered for it', async () => {
  const { slice, job } = await registered(WRONG)
  await withdraw(job)
  expect(await on().run({ ...slice, source: await on().upload(WRONG) })).toMatchObject({ status: 'SUCCEEDED' })
  const [newest] = await jobsOf(on(), slice)
  expect(newest).toMatchObject({ reuses_set: 1, state: 'REGISTERED' })
  await expectSettled(on(), slice, WRONG)
})

test('a start that was planned before the set was withdrawn is refused', async () => {
  const { slice, job } = await registered(WRONG)
  const [{ fence = 0 } = {}] = await jobsOf(on(), slice)
  await withdraw(job)
  const expectation = { head: { job, fence, state: 'REGISTERED' } }
  const run = await on().run({ ...slice, source: await on().upload(OLD), expect: expectation })
  expect(run).toMatchObject({ status: 'FAILED', error: 'PlanMoved' })
  expect(await settledRowsOf(on(), slice)).toBe(0)
})

test('nothing is withdrawn that readers do not see, nor beside a run or an open job', async () => {
  const { slice, job } = await registered(OLD, WRONG)
  const [, older] = await jobsOf(on(), slice)
  await expect(withdraw(older?.id ?? 0)).rejects.toMatchObject({ name: 'NotShown' })
  await expect(withdraw(999_999)).rejects.toMatchObject({ name: 'UnknownJob' })
  const held = holdTask(on(), 'RegisterChunk', slice)
  const arn = await on().start({ ...slice, source: await on().stage(shareFile(120, 63), 50) })
  await within(on(), arn, held.reached)
  await expect(withdraw(job)).rejects.toMatchObject({ name: 'LockHeld' })
  await on().stop(arn)
  await on().ended(arn)
  held.release()
  await expect.poll(() => lockOf(on(), slice)).toBeNull()
  await expect(withdraw(job)).rejects.toMatchObject({ name: 'JobOpenError' })
  expect(await settledRowsOf(on(), slice)).toBe(WRONG.rows)
})

test('a set is withdrawn once the transaction of a reader who holds it has ended', async () => {
  const { slice, job } = await registered(WRONG)
  const reader = await connectOutside(on().stack)
  await reader.query('begin')
  await reader.query('call require_settled_slice(?, ?)', [slice.distributor, slice.month])
  const withdrawn = withdraw(job)
  const early = await Promise.race([withdrawn, new Promise((resume) => setTimeout(() => resume('waits'), 1_500))])
  expect(early).toBe('waits')
  const [[seen]] = (await reader.query('select count(*) as count from settled_share_ratio where distributor = ?', [
    slice.distributor,
  ])) as unknown as [[{ count: number }]]
  expect(seen.count).toBe(WRONG.rows)
  await reader.query('commit')
  expect(await withdrawn).toMatchObject({ withdrawn: true })
  await reader.end()
})
