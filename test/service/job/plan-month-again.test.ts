import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Head } from '../../../functions/contract/messages.ts'
import { haltFromStatusEvent } from '../../../functions/job/halt-job.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { planMonth } from '../../../functions/job/plan-month.ts'
import { useBucket } from '../../support/bucket.ts'
import { countedBy, headOf, opening, stagedOf, testContext } from '../../support/test-context.ts'
import { addDistributor, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('plan')
const BUCKET = 'plan'
const { s3, put } = useBucket(BUCKET)
const FIRST = expect.stringMatching(/^scheduled-[0-9a-f]{12}$/)

const add = (code: string, active = true) => addDistributor(db.outside, code, active)

beforeAll(async () => {
  await Promise.all([add('ARIA'), add('BALLAD'), add('CANTATA'), add('DUET'), add('ETUDE', false)])
  await Promise.all(
    [
      'incoming/ARIA/2026-10.csv',
      'incoming/BALLAD/2026-10.csv.gz',
      'incoming/CANTATA/2026-10.csv',
      'incoming/CANTATA/2026-10.csv.gz',
      // Neither is DUET's file of the month.
      'incoming/DUET/2026-09.csv',
      'incoming/DUET/2026-10.csv.bak',
      'incoming/ETUDE/2026-10.csv',
    ].map((key) => put(key, 'x')),
  )
})

const plan = (request: Parameters<typeof planMonth>[1]['request'], monthsBack = 1, client = s3()) => {
  const run = testContext(db.connect())
  return planMonth({ ...run, s3: client, env: { ...run.env, BUCKET } }, { request, monthsBack })
}

/** A slice of its own with its file, as a month of its own, so that no other test's slices are in the plan's way. */
const delivered = async (month: string, body = 'one') => {
  const code = `M${month.replace('-', '')}`
  await add(code)
  const [row] = await db.outside.rows<{ id: number }>('select id from distributor where code = ?', [code])
  const slice = { distributorId: row?.id ?? 0, distributor: code, month }
  const key = `incoming/${code}/${month}.csv`
  const deliver = (content: string) => put(key, content)
  await deliver(body)
  const planned = async () => {
    const lists = await plan({ month })
    const of = <Line extends { distributor: string }>(lines: readonly Line[]) =>
      lines.filter(({ distributor }) => distributor === code)
    return { starts: of(lists.starts), already: of(lists.already), left: of(lists.left), missing: of(lists.missing) }
  }
  return { slice, deliver, planned }
}

type DeliveredMonth = Awaited<ReturnType<typeof delivered>>

/** Opens a job as the execution of that name would, requested by that person; the schedule's own carries its name. */
const open = async ({ slice }: DeliveredMonth, name: string, requestedBy: string, head: Head | null = null) => {
  const execution = `arn:aws:states:r:1:execution:Job:${name}`
  const input = opening(slice, `${name}/1`, head, { execution, staged: stagedOf('a'), force: true })
  return await openJob(testContext(db.connect()), { ...input, request: { ...input.request, requestedBy } })
}

const register = (id: number) =>
  db.outside.change(`update job set state = 'REGISTERED', registered_at = current_timestamp(6) where id = ?`, [id])

const halt = (id: number) =>
  db.outside.change(
    `update job set fence = fence + 1, lock_token = null, halted_at = current_timestamp(6), halt_error = 'Stopped'
     where id = ?`,
    [id],
  )

/** The status event of an execution of the slice that ended without success. */
const end = async ({ slice }: DeliveredMonth, run: string) => {
  const executionArn = `arn:aws:states:r:1:execution:Job:${slice.distributor}-${slice.month}-${run}`
  const detail = { executionArn, status: 'FAILED' as const, startDate: Date.now(), redriveCount: 0 }
  await haltFromStatusEvent(testContext(db.connect()), {
    'detail-type': 'Step Functions Execution Status Change',
    detail,
  })
}

/** Dispatches the month for the first time: the job of the one start. */
const dispatched = async (month: DeliveredMonth) => {
  const { starts } = await month.planned()
  const [start] = starts
  expect(starts).toMatchObject([{ run: FIRST, head: null }])
  const name = `${month.slice.distributor}-${month.slice.month}-${start?.run}`
  return await open(month, name, 'schedule')
}

describe('a month that is dispatched again', () => {
  test('starts nothing where its own job of this delivery runs or is REGISTERED', async () => {
    const month = await delivered('2025-01')
    const job = await dispatched(month)
    const already = [{ distributor: month.slice.distributor, job: job.id }]
    expect(await month.planned()).toEqual({ starts: [], already, left: [], missing: [] })
    await register(job.id)
    expect(await month.planned()).toEqual({ starts: [], already, left: [], missing: [] })
  })

  test('resumes its own halted job, under a new name and with the head that it saw', async () => {
    const month = await delivered('2025-02')
    const job = await dispatched(month)
    await halt(job.id)
    const { starts } = await month.planned()
    const head = { job: job.id, fence: 2, state: 'DELETING' }
    expect(starts).toMatchObject([{ ending: 'csv', run: expect.stringMatching(/^scheduled-[0-9a-f]{12}-2$/), head }])
    expect(await month.planned()).toMatchObject({ starts })
  })

  test('starts a new delivery behind its own REGISTERED job, and an old one that comes again too', async () => {
    const month = await delivered('2025-03', 'one')
    const first = await dispatched(month)
    await register(first.id)
    await month.deliver('two')
    const { starts: two } = await month.planned()
    expect(two).toMatchObject([{ head: { job: first.id, fence: 1, state: 'REGISTERED' } }])
    const name = `${month.slice.distributor}-${month.slice.month}-${two[0]?.run}`
    const second = await open(month, name, 'schedule', { job: first.id, fence: 1 })
    await register(second.id)
    expect(await month.planned()).toMatchObject({ starts: [], already: [{ job: second.id }] })
    await month.deliver('one')
    const { starts: again } = await month.planned()
    expect(again).toMatchObject([{ head: { job: second.id } }])
    expect(again[0]?.run).not.toBe(two[0]?.run)
  })

  test('starts a run anew that ended and opened no job, each time under the next name, and never one that may still run', async () => {
    const month = await delivered('2025-09')
    const runOf = async () => (await month.planned()).starts[0]?.run ?? ''
    const first = await runOf()
    await end(month, 'another-execution')
    expect(await runOf()).toBe(first)
    for (const name of [`${first}-try2`, `${first}-try3`]) {
      await end(month, await runOf())
      expect(await runOf()).toBe(name)
      expect(await runOf(), 'a second delivery means the same').toBe(name)
    }
    const job = await open(month, `${month.slice.distributor}-${month.slice.month}-${await runOf()}`, 'schedule')
    await end(month, `${first}-try3`)
    expect(await month.planned()).toMatchObject({ starts: [], already: [{ job: job.id }] })
    await halt(job.id)
    expect(await runOf()).toBe(`${first}-2`)
    await end(month, `${first}-2`)
    expect((await month.planned()).starts).toMatchObject([{ run: `${first}-2-try2`, head: { job: job.id, fence: 2 } }])
  })

  test("leaves an operator's correction alone and says whose it is, whatever is delivered after it", async () => {
    const month = await delivered('2025-04')
    const first = await dispatched(month)
    await register(first.id)
    const correction = await open(month, 'M202504-2025-04-abababababababab-1', 'kim', { job: first.id, fence: 1 })
    await register(correction.id)
    for (const body of ['one', 'two']) {
      await month.deliver(body)
      const { starts, left } = await month.planned()
      expect(starts).toEqual([])
      const reason = expect.stringMatching(new RegExp(`^job ${correction.id}, requested by kim, REGISTERED at 20.*Z$`))
      expect(left).toEqual([{ distributor: month.slice.distributor, reason }])
    }
  })

  test("leaves an operator's open job alone, running or halted, and its own halted job of an earlier delivery", async () => {
    const theirs = await delivered('2025-05')
    const job = await open(theirs, 'by-hand', 'schedule')
    const reasonOf = async (month: DeliveredMonth) => (await month.planned()).left[0]?.reason
    expect(await reasonOf(theirs)).toMatch(/requested by schedule, running since/)
    await halt(job.id)
    expect(await reasonOf(theirs)).toMatch(/halted at .* by Stopped$/)
    const own = await delivered('2025-06')
    await halt((await dispatched(own)).id)
    await own.deliver('two')
    expect(await reasonOf(own)).toMatch(/halted at .* by Stopped, of an earlier delivery$/)
  })

  test('counts and logs those that it left alone', async () => {
    const month = await delivered('2025-07')
    await register((await open(month, 'by-hand', 'kim')).id)
    const run = testContext(db.connect())
    const counted = countedBy(run)
    const warned = vi.spyOn(run.logger, 'warn')
    await planMonth({ ...run, s3: s3(), env: { ...run.env, BUCKET } }, { request: { month: '2025-07' }, monthsBack: 1 })
    expect(counted).toContainEqual(['month.left', 1])
    expect(warned).toHaveBeenCalledWith('distributors left alone', {
      month: '2025-07',
      left: [{ distributor: 'M202507', reason: expect.stringContaining('requested by kim') }],
    })
  })

  test("loses to an operator's job that comes between the plan and the run", async () => {
    const month = await delivered('2025-08')
    const { starts } = await month.planned()
    const operator = await open(month, 'by-hand', 'kim')
    await register(operator.id)
    const late = opening(month.slice, 'late/1', headOf(operator), { expect: { head: starts[0]?.head } })
    await expect(openJob(testContext(db.connect()), late)).rejects.toMatchObject({ name: 'PlanMoved' })
  })
})
