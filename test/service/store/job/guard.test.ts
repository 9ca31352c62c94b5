import { beforeAll, describe, expect, test } from 'vitest'
import type { JobMessage } from '../../../../functions/contract/messages.ts'
import type { JobState } from '../../../../functions/contract/words.ts'
import { openJob } from '../../../../functions/job/open-job.ts'
import { type Acquisition, guardExclusive, guardShared, requireOurs } from '../../../../functions/store/job/guard.ts'
import { exclusively } from '../../../../functions/store/job/held.ts'
import { transaction } from '../../../../functions/store/mysql/transaction.ts'
import { opening, testContext } from '../../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../../support/test-database.ts'

/* Each part of the guard alone keeps a late attempt out, whatever the other parts say. */
const db = useTestDatabase('guard')
let job: JobMessage
let ours: Expected
beforeAll(async () => {
  job = await openJob(testContext(db.connect()), opening(await newSlice(db.outside), 'a/1', null))
  ours = { id: job.id, fence: job.fence, token: 'a/1', state: 'DELETING' }
})

/** A guard is asked for an acquisition and a state. */
type Expected = Acquisition & { readonly state: JobState }

const shared = ({ state, ...by }: Expected) => transaction(db.outside, (tx) => guardShared(tx, by, state))
const exclusive = ({ state, ...by }: Expected) =>
  exclusively(db.outside, by.id, (held) => guardExclusive(held, by, state))
const look = ({ state, ...by }: Expected) => requireOurs(db.outside, by, state)

describe.each([
  ['of a chunk', shared],
  ['of a transition', exclusive],
  ['of a look ahead of a transition', look],
] as const)('the guard %s', (_, guard) => {
  test('lets the run through that opened the job', async () => {
    await guard(ours)
  })

  test.each([
    ['an older fence', { fence: 0 }],
    ['a newer fence', { fence: 2 }],
    ['another token', { token: 'a/2' }],
    ['another state', { state: 'DELETED' }],
    ['another job', { id: 1_000_000 }],
  ] as const)('keeps %s out', async (_, change) => {
    await expect(guard({ ...ours, ...change })).rejects.toMatchObject({ name: 'StaleFence' })
  })

  test('keeps its own run out of a job that was closed, even with nothing else changed', async () => {
    await db.outside.change('update job set closed_at = current_timestamp(6) where id = ?', [job.id])
    await expect(guard(ours)).rejects.toMatchObject({ name: 'StaleFence', message: expect.stringContaining('closed') })
    await db.outside.change('update job set closed_at = null where id = ?', [job.id])
  })
})

test('a transition that may be repeated finds the state after it as well, under the same acquisition only', async () => {
  await db.outside.change(`update job set state = 'DELETED' where id = ?`, [job.id])
  const again = (change: Partial<Acquisition>) =>
    exclusively(db.outside, job.id, (held) => guardExclusive(held, { ...ours, ...change }, 'DELETING', 'DELETED'))
  expect(await again({})).toMatchObject({ state: 'DELETED', job: { id: job.id } })
  for (const change of [{ fence: 2 }, { token: 'a/2' }])
    await expect(again(change)).rejects.toMatchObject({ name: 'StaleFence' })
})

test('a transition guards the job whose row it holds, and no other', async () => {
  const { state: _, ...by } = ours
  const mistaken = exclusively(db.outside, job.id + 1, (held) => guardExclusive(held, by, 'DELETED'))
  await expect(mistaken).rejects.toThrow(`The row of job ${job.id + 1} is held and not that of job ${job.id}`)
})
