import { expect, test } from 'vitest'
import { shareFile } from '../../support/share-file.ts'
import { useStack } from '../../support/stack.ts'
import type { TestSlice } from '../../support/test-stack.ts'
import { Reader, type ReadSlice } from '../matrix/reader.ts'
import { KINDS } from '../matrix/reader-kinds.ts'

/* The readers of the fault matrix see what they are there to see, each of the four kinds. */
const on = useStack()

const settled = async (): Promise<TestSlice> => {
  const slice = await on().newSlice()
  const run = await on().run({ ...slice, source: await on().upload(shareFile(60, 81)) })
  expect(run).toMatchObject({ status: 'SUCCEEDED' })
  return slice
}

/** What the readers say of what happens while they read. */
const readBeside = async (slices: readonly ReadSlice[], happening: () => Promise<unknown>): Promise<string[]> => {
  const reader = new Reader(on())
  const stop = reader.start(() => slices)
  const twiceEach = () => expect.poll(() => reader.looks, { timeout: 60_000 })
  await twiceEach().toBeGreaterThan(2 * KINDS.length * slices.length)
  await happening()
  const { looks } = reader
  await twiceEach().toBeGreaterThan(looks + 3 * KINDS.length * slices.length)
  return await stop()
}

test('a correction and an undo of it show one whole set after the other', async () => {
  const slice = await settled()
  const found = await readBeside([{ slice, mode: 'standby' }], async () => {
    expect(await on().run({ ...slice, source: await on().upload(shareFile(80, 82)) })).toMatchObject({
      status: 'SUCCEEDED',
    })
    expect(await on().run({ ...slice, source: { undo: true } })).toMatchObject({ status: 'SUCCEEDED' })
  })
  expect(found).toEqual([])
})

test('a row that is missing, and one with another share, are seen', async () => {
  const slice = await settled()
  const of = `isrc > '' and isrc < '[' and distributor_id = (select id from distributor where code = ?) limit 1`
  const fewer = await readBeside([{ slice, mode: 'standby' }], () =>
    on().outside.query(`update share_ratio set share = share / 2 where ${of}`, [slice.distributor]),
  )
  for (const { name } of KINDS) expect(fewer.filter((one) => one.startsWith(`${name} of`))).toHaveLength(1)
  expect(fewer[0]).toMatch(/saw 60 rows of job \d+, where 60 rows and the sum [\d.]+ were due, not [\d.]+$/)
  const gone = await readBeside([{ slice, mode: 'in-place' }], () =>
    on().outside.query(`delete from share_ratio where ${of}`, [slice.distributor]),
  )
  for (const { name } of KINDS) expect(gone.join()).toMatch(new RegExp(`${name} of .* saw 59 rows of job`))
})

test('nothing behind a set is seen in the mode standby, and is as it should be in-place and behind a withdrawal', async () => {
  const [standby, inPlace, withdrawn] = [await settled(), await settled(), await settled()]
  const slices: ReadSlice[] = [
    { slice: standby, mode: 'standby' },
    { slice: inPlace, mode: 'in-place' },
    { slice: withdrawn, mode: 'standby' },
  ]
  const found = await readBeside(slices, async () => {
    await on().outside.query(
      `update job set withdrawn_at = current_timestamp(6) where distributor_id = (select id from distributor where code = ?)`,
      [withdrawn.distributor],
    )
    await on().outside.query(
      `update active_set set slot = null, job_id = null where distributor_id in
         (select id from distributor where code in (?))`,
      [[standby.distributor, inPlace.distributor, withdrawn.distributor]],
    )
  })
  const due = KINDS.map(({ name }) => `${name} of ${standby.distributor} ${standby.month} saw nothing behind a set`)
  expect(found.sort()).toEqual(due.sort())
})
