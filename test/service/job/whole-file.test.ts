import { expect, test } from 'vitest'
import { requireWholeFile } from '../../../functions/job/whole-file.ts'
import { writeHeld } from '../../../functions/store/held-set.ts'
import { useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('whole')

const SLICE = { distributor: 'ARIA', month: '2026-10' }
const DETAILS = { job: 7, fence: 3, state: 'REGISTERING' } as const
const HELD = {
  ...{ rows: 2, shareSum: '120.000000', tracks: 1, firstTracks: ['KRA012600002'], bytes: 80 },
  ...{ digest: 'b'.repeat(64), file: { rows: 4, shareSum: '219.999999' } },
}
const digest = 'a'.repeat(64)
const whole = (rows: number, shareSum: string, of = digest) =>
  requireWholeFile(db.outside, SLICE, of, { rows, shareSum }, DETAILS)

test('a file is whole where registered and held rows are its own, and where nothing is held', async () => {
  await writeHeld(db.outside, digest, HELD)
  expect(await whole(2, '99.999999')).toEqual(HELD)
  expect(await whole(9, '1.000000', 'c'.repeat(64))).toBeUndefined()
})

test.each([
  [3, '99.999999'],
  [2, '100.000000'],
])('%i registered rows of %s are not the rest of it: the failure carries both', async (rows, shareSum) => {
  await writeHeld(db.outside, digest, HELD)
  await expect(whole(rows, shareSum)).rejects.toMatchObject({
    name: 'SliceMismatch',
    ...DETAILS,
    data: {
      rows: rows + 2,
      shareSum: rows === 3 ? '219.999999' : '220.000000',
      fileRows: 4,
      fileShareSum: '219.999999',
    },
  })
})
