import { beforeAll, describe, expect, test } from 'vitest'
import type { JobMessage } from '../../../../functions/contract/messages.ts'
import { openJob } from '../../../../functions/job/open-job.ts'
import { type Guard, guardExclusive, guardShared } from '../../../../functions/store/job/guard.ts'
import { transaction } from '../../../../functions/store/mysql/transaction.ts'
import { newSlice, useTestDatabase } from '../../../support/test-database.ts'
import { opening, testRun } from '../../../support/test-run.ts'

/* Each part of the guard alone keeps a late attempt out, whatever the other parts say. */
const db = useTestDatabase('guard')
let job: JobMessage
let ours: Guard
beforeAll(async () => {
  job = await openJob(testRun(db.connect()), opening(await newSlice(db.outside), 'a/1', null))
  ours = { id: job.id, fence: job.fence, token: 'a/1', state: 'DELETING' }
})

const shared = async (guard: Guard) => await transaction(db.outside, () => guardShared(db.outside, guard))
const exclusive = async (guard: Guard) => await guardExclusive(db.outside, guard)

describe.each([
  ['of a chunk', shared],
  ['of a transition', exclusive],
] as const)('the guard %s', (_, look) => {
  test('lets the run through that opened the job', async () => {
    await look(ours)
  })

  test.each([
    ['an older fence', { fence: 0 }],
    ['a newer fence', { fence: 2 }],
    ['another token', { token: 'a/2' }],
    ['another state', { state: 'DELETED' }],
    ['another job', { id: 1_000_000 }],
  ] as const)('keeps %s out', async (_, change) => {
    await expect(look({ ...ours, ...change })).rejects.toMatchObject({ name: 'StaleFence' })
  })

  test('keeps its own run out of a job that was closed, even with nothing else changed', async () => {
    await db.outside.change('update job set closed_at = current_timestamp(6) where id = ?', [job.id])
    await expect(look(ours)).rejects.toMatchObject({ name: 'StaleFence', message: expect.stringContaining('closed') })
    await db.outside.change('update job set closed_at = null where id = ?', [job.id])
  })
})

test('a transition that may be repeated finds the state after it as well, under the same acquisition only', async () => {
  await db.outside.change(`update job set state = 'DELETED' where id = ?`, [job.id])
  expect(await guardExclusive(db.outside, ours, 'DELETED')).toMatchObject({ id: job.id })
  for (const change of [{ fence: 2 }, { token: 'a/2' }])
    await expect(guardExclusive(db.outside, { ...ours, ...change }, 'DELETED')).rejects.toMatchObject({
      name: 'StaleFence',
    })
})
