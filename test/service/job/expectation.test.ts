import { describe, expect, test } from 'vitest'
import type { JobMessage, SeenHead } from '../../../functions/contract/messages.ts'
import { haltFromCatch } from '../../../functions/job/halt-job.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { headOf, opening, stagedOf, testContext } from '../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../support/test-database.ts'

/* What a start was planned on, compared in OpenJob's own transaction. */
const db = useTestDatabase('expect')
const run = () => testContext(db.connect())
const register = (id: number) => db.outside.change(`update job set state = 'REGISTERED' where id = ?`, [id])
const seen = (job: JobMessage, state: SeenHead['state'] = 'REGISTERED'): SeenHead => ({ ...headOf(job), state })

/** A slice whose job `a/1` is REGISTERED. */
const settled = async () => {
  const slice = await newSlice(db.outside)
  const job = await openJob(run(), opening(slice, 'a/1', null))
  await register(job.id)
  return { slice, job }
}

const refused = { name: 'PlanMoved' }

describe('a start that expects a head', () => {
  test('opens its job where the head is the one that was seen, the first job included', async () => {
    const slice = await newSlice(db.outside)
    const first = await openJob(run(), opening(slice, 'a/1', null, { expect: { head: null } }))
    expect(first).toMatchObject({ outcome: 'opened' })
    await register(first.id)
    const change = { staged: stagedOf('b'), expect: { head: seen(first) } }
    expect(await openJob(run(), opening(slice, 'b/2', headOf(first), change))).toMatchObject({ outcome: 'opened' })
  })

  test('is refused where another job was registered since, though AcquireLock read the newer head', async () => {
    const { slice, job } = await settled()
    const other = await openJob(run(), opening(slice, 'b/2', headOf(job), { staged: stagedOf('b') }))
    await register(other.id)
    const stale = openJob(
      run(),
      opening(slice, 'c/3', headOf(other), { staged: stagedOf('c'), expect: { head: seen(job) } }),
    )
    await expect(stale).rejects.toMatchObject(refused)
    await expect(stale).rejects.toThrow(
      `job ${other.id}, requested by test in arn:execution:b, came since. Nothing was touched.`,
    )
    expect(await readJob(db.outside, other.id)).toMatchObject({ state: 'REGISTERED', fence: 2, closed_at: null })
    const jobs = await db.outside.rows('select id from job where distributor_id = ?', [slice.distributorId])
    expect(jobs).toHaveLength(2)
  })

  test('is refused where the slice had no job and has one now', async () => {
    const { slice, job } = await settled()
    const stale = opening(slice, 'b/2', headOf(job), { staged: stagedOf('b'), expect: { head: null } })
    await expect(openJob(run(), stale)).rejects.toMatchObject(refused)
  })

  test('is refused where the job that was seen running is REGISTERED now, under the same fence', async () => {
    const { slice, job } = await settled()
    const expected = { head: seen(job, 'REGISTERING') }
    const stale = opening(slice, 'b/2', headOf(job), { staged: stagedOf('b'), supersede: true, expect: expected })
    await expect(openJob(run(), stale)).rejects.toThrow('was REGISTERING under fence 1 and is REGISTERED under fence 1')
  })

  test('is refused where the slice was restored to an earlier moment', async () => {
    const slice = await newSlice(db.outside)
    const stale = opening(slice, 'a/1', null, { expect: { head: { job: 999, fence: 3, state: 'REGISTERED' } } })
    await expect(openJob(run(), stale)).rejects.toThrow('job 999 is gone')
  })

  test('is let through behind the run that it was told to wait for, and behind no other', async () => {
    const { slice, job } = await settled()
    const other = await openJob(run(), opening(slice, 'b/2', headOf(job), { staged: stagedOf('b') }))
    await register(other.id)
    const wait = (after: string) =>
      openJob(
        run(),
        opening(slice, 'c/3', headOf(other), { staged: stagedOf('c'), expect: { head: seen(job), after: [after] } }),
      )
    await expect(wait('arn:execution:x')).rejects.toMatchObject(refused)
    expect(await wait('arn:execution:b')).toMatchObject({ outcome: 'opened' })
  })
})

describe("the run's own job satisfies what it expected", () => {
  const expected = { expect: { head: null } }

  test('when OpenJob is repeated with the same token', async () => {
    const slice = await newSlice(db.outside)
    const first = await openJob(run(), opening(slice, 'a/1', null, expected))
    expect(await openJob(run(), opening(slice, 'a/1', null, expected))).toEqual({ ...first, outcome: 'repeated' })
  })

  test('when it comes back after it lost its lock', async () => {
    const slice = await newSlice(db.outside)
    const own = await openJob(run(), opening(slice, 'a/1', null, expected))
    const back = await openJob(run(), opening(slice, 'a/2', headOf(own), { ...expected, own }))
    expect(back).toMatchObject({ id: own.id, fence: 2, outcome: 'taken over' })
  })

  test('when the reply that named its job was lost, and the lock behind it', async () => {
    const slice = await newSlice(db.outside)
    const execution = 'arn:execution:a'
    const own = await openJob(run(), opening(slice, 'a/1', null, { ...expected, execution }))
    const back = await openJob(run(), opening(slice, 'a/2', headOf(own), { ...expected, execution }))
    expect(back).toMatchObject({ id: own.id, fence: 2, outcome: 'taken over' })
  })

  test('but not once somebody halted it', async () => {
    const slice = await newSlice(db.outside)
    const execution = 'arn:execution:a'
    const own = await openJob(run(), opening(slice, 'a/1', null, { ...expected, execution }))
    const failure = { Error: 'Stopped', Cause: 'an operator' }
    await haltFromCatch(run(), { execution, slice, lock: { token: 'a/1', held: false }, job: own, failure })
    const back = openJob(run(), opening(slice, 'a/2', { job: own.id, fence: 2 }, { ...expected, execution }))
    await expect(back).rejects.toMatchObject(refused)
  })
})

test('a refused plan halts nothing: HaltJob finds no job of its own', async () => {
  const { slice, job } = await settled()
  const failure = { Error: 'PlanMoved', Cause: '' }
  const lock = { token: 'b/2', held: false }
  const halted = await haltFromCatch(run(), { execution: 'arn:execution:b/2', slice, lock, job: null, failure })
  expect(halted).toEqual({ halted: false, job: null, released: false })
  expect(await readJob(db.outside, job.id)).toMatchObject({ state: 'REGISTERED', fence: 1, halted_at: null })
})
