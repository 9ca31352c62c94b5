import { expect, test } from 'vitest'
import { holdTask, within } from '../../support/faults.ts'
import { expectHalted, expectSettled, jobsOf, settledRowsOf } from '../../support/invariants.ts'
import { connectOutside } from '../../support/outside.ts'
import { replaceInPlace } from '../../support/replace-mode.ts'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'

/* Readers see the set before until the transaction that sets REGISTERED, whatever halts, and who reads with locks is waited for. */
const on = useStack()

const OLD = shareFile(150, 51)
const NEW = shareFile(200, 52)
const THIRD = shareFile(100, 53)

const settled = async (...files: (typeof OLD)[]): Promise<TestSlice> => {
  const slice = await on().newSlice()
  for (const file of files)
    expect(await on().run({ ...slice, source: await on().upload(file) })).toMatchObject({ status: 'SUCCEEDED' })
  return slice
}

test('a reader who holds the set delays the switch, is named, and is not ended; readers behind it pass', async () => {
  const slice = await settled(OLD)
  const neighbour = await settled(OLD)
  const reader = await connectOutside(on().stack)
  await reader.query('set session transaction isolation level repeatable read')
  await reader.query('begin')
  const [{ affectedRows }] = (await reader.query(
    `create temporary table if not exists paid (isrc char(12))`,
  )) as unknown as [{ affectedRows: number }]
  expect(affectedRows).toBe(0)
  await reader.query('insert into paid select isrc from settled_share_ratio where distributor = ?', [slice.distributor])
  const arn = await on().start({ ...slice, source: await on().upload(NEW) })
  const waits = async () =>
    (
      await on().rows<{ waits_for: string | null }>(
        'select waits_for from slice_status where distributor = ? and settlement_month = ?',
        [slice.distributor, `${slice.month}-01`],
      )
    )[0]?.waits_for
  await expect.poll(waits, { timeout: 60_000 }).toMatch(/A reader keeps the set that is shown now: session \d+ of \w+@/)
  // Neither another month's switch nor another reader of this one waits.
  expect(await on().run({ ...neighbour, source: await on().upload(NEW) })).toMatchObject({ status: 'SUCCEEDED' })
  expect(await settledRowsOf(on(), slice)).toBe(OLD.rows)
  await reader.query('commit')
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, NEW)
  expect(await waits()).toBeNull()
  await reader.end()
})

test('an undo to a set that still lies in its slot is a switch: no chunk is planned, and the same the other way', async () => {
  const slice = await settled(OLD, NEW)
  for (const file of [OLD, NEW, OLD]) {
    expect(await on().run({ ...slice, source: { undo: true } })).toMatchObject({ status: 'SUCCEEDED' })
    await expectSettled(on(), slice, file)
    const [newest] = await jobsOf(on(), slice)
    expect(newest).toMatchObject({ reuses_set: 1, is_undo: 1 })
    expect(await on().rows('select number from job_chunk where job_id = ?', [newest?.id ?? 0])).toEqual([])
  }
})

test('where a stranger changed the set in the other slot, an undo registers it anew', async () => {
  const slice = await settled(OLD, NEW)
  const [, old] = await jobsOf(on(), slice)
  await on().outside.query(
    `update share_ratio set party_id = 'STRANGER' where slot = ? and isrc > '' and isrc < '[' and distributor_id =
       (select id from distributor where code = ?) limit 1`,
    [old?.slot, slice.distributor],
  )
  expect(await on().run({ ...slice, source: { undo: true } })).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, OLD)
  const [newest] = await jobsOf(on(), slice)
  expect(newest).toMatchObject({ reuses_set: 0, slot: old?.slot })
})

test("a stranger's change of a party that keeps count and sum is found before REGISTERED, and the old set is read on", async () => {
  const slice = await settled(OLD)
  const held = holdTask(on(), 'MarkRegistered', slice)
  const arn = await on().start({ ...slice, source: await on().upload(NEW) })
  await within(on(), arn, held.reached)
  const [job] = await jobsOf(on(), slice)
  await on().outside.query(
    `update share_ratio set party_id = 'STRANGER' where slot = ? and isrc > '' and isrc < '[' and distributor_id =
       (select id from distributor where code = ?) limit 1`,
    [job?.slot, slice.distributor],
  )
  held.release()
  const end = await on().ended(arn)
  expect(end).toMatchObject({ status: 'FAILED', error: 'SliceMismatch' })
  expect(end.cause).toMatch(
    /as many rows with the same sum as the file, and other ones: they differ between the tracks/,
  )
  await expectHalted(on(), slice, 'REGISTERING', 'SliceMismatch')
  expect(await settledRowsOf(on(), slice)).toBe(OLD.rows)
  const again = { ...slice, source: await on().upload(NEW), supersede: true, force: true }
  expect(await on().run(again)).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, NEW)
})

test('a superseding job writes the same standby slot, and deletes what its predecessor registered there', async () => {
  const slice = await settled(OLD)
  const held = holdTask(on(), 'MarkRegistered', slice)
  const arn = await on().start({ ...slice, source: await on().stage(NEW, 50) })
  await within(on(), arn, held.reached)
  await on().stop(arn)
  await on().ended(arn)
  held.release()
  const run = await on().run({ ...slice, source: await on().upload(THIRD), supersede: true })
  expect(run).toMatchObject({ status: 'SUCCEEDED' })
  const slots = (await jobsOf(on(), slice)).map(({ slot }) => slot)
  expect(slots).toEqual([1, 1, 0])
  await expectSettled(on(), slice, THIRD)
})

test('a distributor whose mode is changed keeps its readers: in place from the slot they see, and back', async () => {
  const slice = await settled(OLD, NEW)
  await replaceInPlace(on(), slice)
  expect(await on().run({ ...slice, source: await on().upload(THIRD) })).toMatchObject({ status: 'SUCCEEDED' })
  await expectSettled(on(), slice, THIRD)
  await on().outside.query(`update distributor set replace_mode = 'standby' where code = ?`, [slice.distributor])
  const held = holdTask(on(), 'MarkRegistered', slice)
  const arn = await on().start({ ...slice, source: await on().upload(NEW) })
  await within(on(), arn, held.reached)
  expect(await settledRowsOf(on(), slice)).toBe(THIRD.rows)
  held.release()
  expect(await on().ended(arn)).toMatchObject({ status: 'SUCCEEDED' })
  expect((await jobsOf(on(), slice)).map(({ slot }) => slot)).toEqual([0, 1, 1, 0])
  await expectSettled(on(), slice, NEW)
})
