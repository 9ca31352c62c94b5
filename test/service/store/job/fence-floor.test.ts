import { expect, test } from 'vitest'
import { openJob } from '../../../../functions/job/open-job.ts'
import { closeJob, markHalted, takeOverJob } from '../../../../functions/store/job/fence.ts'
import { readJob } from '../../../../functions/store/job/row.ts'
import { transaction } from '../../../../functions/store/mysql/transaction.ts'
import type { Tx } from '../../../../functions/store/mysql/tx.ts'
import { headOf, opening, stagedOf, testContext } from '../../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../../support/test-database.ts'

const db = useTestDatabase('floor')
const run = () => testContext(db.connect())

/** What a restore leaves: the rows of one server, on another. */
const restored = () =>
  db.outside.change(`update fence_floor set server_uuid = '00000000-0000-0000-0000-000000000000', floor = 0`)

const nowS = () => Math.floor(Date.now() / 1_000)

const floor = async (): Promise<number> => {
  const [row] = await db.outside.rows<{ floor: number }>('select floor from fence_floor')
  return row?.floor ?? -1
}

test('on the server that issued them, fences count from 1', async () => {
  const slice = await newSlice(db.outside)
  const first = await openJob(run(), opening(slice, 'a/1', null))
  const second = await openJob(run(), opening(slice, 'b/2', headOf(first)))
  expect([first.fence, second.fence, await floor()]).toEqual([1, 2, 0])
})

test('on another, the first opening is above the time, in any slice, and the next ones count on from there', async () => {
  const [known, fresh] = [await newSlice(db.outside), await newSlice(db.outside)]
  const before = await openJob(run(), opening(known, 'a/1', null))
  const beforeS = nowS()
  await restored()
  const after = await openJob(run(), opening(known, 'b/2', headOf(before)))
  expect(after.fence).toBeGreaterThanOrEqual(beforeS)
  expect(await floor()).toBe(after.fence)
  expect((await openJob(run(), opening(known, 'c/3', headOf(after)))).fence).toBe(after.fence + 1)
  expect((await openJob(run(), opening(fresh, 'd/4', null))).fence).toBe(after.fence)
})

test('on another, whoever issues the first fence raises it: a halt, a closing and a take-over too', async () => {
  const issue: ((tx: Tx, job: Parameters<typeof closeJob>[1]) => Promise<unknown>)[] = [
    (tx, job) => markHalted(tx, job, 'Stopped', 'by a person'),
    (tx, job) => closeJob(tx, job),
    (tx, job) =>
      takeOverJob(tx, job, {
        ...{ token: 'e/5', execution: 'e', life: { startedMs: 1, redrives: 0 }, requestedBy: 'kim', undo: false },
        staged: stagedOf('e'),
      }),
  ]
  for (const change of issue) {
    const { id } = await openJob(run(), opening(await newSlice(db.outside), 'a/1', null))
    const beforeS = nowS()
    await restored()
    await transaction(db.connect(), async (tx) => {
      const job = await readJob(tx, id)
      if (job === undefined) throw new Error(`There is no job ${id}`)
      await change(tx, job)
    })
    expect((await readJob(db.outside, id))?.fence).toBeGreaterThanOrEqual(beforeS)
  }
})

test('two that open at once on another raise it once, and wait for each other', async () => {
  const slices = await Promise.all(Array.from({ length: 6 }, () => newSlice(db.outside)))
  await restored()
  const fences = await Promise.all(
    slices.map(async (slice) => (await openJob(run(), opening(slice, 'a/1', null))).fence),
  )
  expect(new Set(fences)).toEqual(new Set([await floor()]))
})

test('on a server whose clock is wrong the first fence is still above all that are here', async () => {
  const slice = await newSlice(db.outside)
  const { id, ...job } = await openJob(run(), opening(slice, 'a/1', null))
  const far = nowS() + 1_000_000
  await db.outside.change('update job set fence = ? where id = ?', [far, id])
  await restored()
  const other = await openJob(run(), opening(await newSlice(db.outside), 'b/2', null))
  expect(other.fence).toBeGreaterThan(far)
  await db.outside.change('update job set fence = ? where id = ?', [job.fence, id])
})
