import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { monthDate, type Slice } from '../../../functions/contract/words.ts'
import { haltFromCatch } from '../../../functions/job/halt-job.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { guardShared } from '../../../functions/store/job/guard.ts'
import { tryAcquire } from '../../../functions/store/lock/acquire.ts'
import { openLockClient } from '../../../functions/store/lock/client.ts'
import { transaction } from '../../../functions/store/mysql/transaction.ts'
import { loadChunk } from '../../../functions/store/share-ratio.ts'
import { lockAddress } from '../../support/lock-address.ts'
import { loadRows } from '../../support/rows.ts'
import { headOf, opening, stagedOf, testContext } from '../../support/test-context.ts'
import { linesOf, newSlice, useTestDatabase } from '../../support/test-database.ts'

/* A holder that is gone, one that is refused, one that lost its lock: the slice is neither blocked for ever nor crossed. */

const db = useTestDatabase('lost_lock')
let client: Redis
beforeAll(async () => {
  const { host, port } = inject('valkey')
  client = await openLockClient(lockAddress(host, port))
})
afterAll(() => client.disconnect())

const tracks = async (slice: Slice): Promise<string[]> => {
  const rows = await db.outside.rows<{ isrc: string }>(
    `select distinct isrc from share_ratio where distributor_id = ? and settlement_month = ? and isrc > '' and isrc < '['
     order by isrc`,
    [slice.distributorId, monthDate(slice.month)],
  )
  return rows.map((row) => row.isrc)
}
const deleteSlice = (slice: Slice) =>
  db.outside.change(
    `delete from share_ratio where distributor_id = ? and settlement_month = ? and isrc > '' and isrc < '['`,
    [slice.distributorId, monthDate(slice.month)],
  )
const keyOf = ({ distributor, month }: Slice): string => `{sharelock:${distributor}:${month}}:lock`

const FILE_X = linesOf(0, 3)
const FILE_Y = linesOf(100, 3)
const TRACKS_OF_Y = ['KRA000000100', 'KRA000000101', 'KRA000000102']

test('a holder that crashed frees the slice after the TTL, and the next run continues its job', async () => {
  const slice = await newSlice(db.outside)
  expect(await tryAcquire(client, slice, 'crashed/1')).toBeNull()
  const job = await openJob(testContext(db.connect()), opening(slice, 'crashed/1', null))
  expect(await tryAcquire(client, slice, 'next/2')).toMatchObject({ holder: 'crashed' })
  // The end of its TTL, brought forward.
  await client.pexpire(keyOf(slice), 50)
  await expect.poll(() => tryAcquire(client, slice, 'next/2')).toBeNull()
  const next = await openJob(testContext(db.connect()), opening(slice, 'next/2', headOf(job)))
  expect(next).toMatchObject({ id: job.id, fence: job.fence + 1, outcome: 'taken over' })
})

test("a refused run's halt leaves the holder's lock, and a third run stays out", async () => {
  const slice = await newSlice(db.outside)
  await tryAcquire(client, slice, 'first/1')
  await openJob(testContext(db.connect()), opening(slice, 'first/1', null))
  expect(await tryAcquire(client, slice, 'refused/2')).toMatchObject({ holder: 'first' })
  await haltFromCatch(testContext(db.connect()), {
    execution: 'arn:execution:refused',
    slice,
    lock: { token: 'refused/2', held: true },
    job: null,
    failure: { Error: 'LockHeld' },
  })
  expect(await tryAcquire(client, slice, 'third/3')).toMatchObject({ holder: 'first' })
})

test('a lock that was lost crosses nothing: the month holds the last file alone', async () => {
  const slice = await newSlice(db.outside)
  const by = testContext(db.connect())
  await tryAcquire(client, slice, 'first/1')
  const first = await openJob(by, opening(slice, 'first/1', null))
  await db.outside.change(`update job set state = 'REGISTERING' where id = ?`, [first.id])
  // Somebody deletes the lock by hand, or a failover forgets it.
  await client.del(keyOf(slice))
  expect(await tryAcquire(client, slice, 'third/3')).toBeNull()
  const third = await openJob(
    testContext(db.connect()),
    opening(slice, 'third/3', headOf(first), { staged: stagedOf('b'), supersede: true }),
  )
  expect(third.fence).toBeGreaterThan(first.fence)
  await deleteSlice(slice)
  await loadRows(db.outside, slice, FILE_Y)
  const late = transaction(by.database, async (tx) => {
    const acquisition = { id: first.id, fence: first.fence, token: 'first/1' }
    await loadChunk(await guardShared(tx, acquisition, 'REGISTERING'), FILE_X)
  })
  await expect(late).rejects.toMatchObject({ name: 'StaleFence' })
  expect(await tracks(slice)).toEqual(TRACKS_OF_Y)
})
