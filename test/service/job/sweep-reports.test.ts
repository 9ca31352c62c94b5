import { describe, expect, test, vi } from 'vitest'
import { openJob } from '../../../functions/job/open-job.ts'
import { monthDue, sweep } from '../../../functions/job/sweep.ts'
import { writeEvent } from '../../../functions/store/job/outbox.ts'
import { transaction } from '../../../functions/store/mysql/transaction.ts'
import { countedBy, opening, testContext } from '../../support/test-context.ts'
import { newSlice } from '../../support/test-database.ts'
import { INPUT, QUIET_S, Topic, useSweep } from './use-sweep.ts'

const { db, openedAgo, runWith } = useSweep()

describe('the outbox', () => {
  test('is emptied, more than one batch of it, oldest first', async () => {
    const { job } = await openedAgo(1)
    await transaction(db.outside, async (tx) => {
      for (let number = 0; number < 150; number += 1) await writeEvent(tx, job.id, 'JobHalted', { number })
    })
    const topic = new Topic()
    expect(await sweep(runWith(topic), INPUT, QUIET_S)).toMatchObject({ published: 150, pending: 0 })
    expect(topic.taken.map((text) => JSON.parse(text).number)).toEqual(
      Array.from({ length: 150 }, (_, number) => number),
    )
  })

  test('keeps what the topic refuses, and the sweep says so without failing', async () => {
    const { job } = await openedAgo(1)
    await transaction(db.outside, (tx) => writeEvent(tx, job.id, 'JobHalted', {}))
    const topic = new Topic()
    topic.refuses = true
    expect(await sweep(runWith(topic), INPUT, QUIET_S)).toMatchObject({ published: 0, pending: 1 })
    topic.refuses = false
    expect(await sweep(runWith(topic), INPUT, QUIET_S)).toMatchObject({ published: 1, pending: 0 })
  })
})

describe('the oldest job that runs', () => {
  test('is told by its age, and a halted one is not it', async () => {
    const aged = async () => {
      const run = runWith(new Topic())
      const counted = countedBy(run)
      await sweep(run, INPUT, 3 * 3_600)
      return counted.find(([name]) => name === 'job.open.age')?.[1]
    }
    expect(await aged()).toBe(0)
    const { job } = await openedAgo(90)
    await openedAgo(30, 'b/2')
    expect(await aged()).toBeGreaterThanOrEqual(90 * 60)
    await db.outside.change('update job set halted_at = current_timestamp(6) where id = ?', [job.id])
    expect(await aged()).toBeLessThan(90 * 60)
  })
})

describe('the month that is due', () => {
  test.each([
    ['before its day', '2026-10-11T14:59:59Z', 1, null],
    ['on its day, in Seoul', '2026-10-11T15:00:00Z', 1, '2026-09'],
    ['until the end of the month, in Seoul', '2026-10-31T14:59:59Z', 1, '2026-09'],
    ['not on the first of the next one, in Seoul', '2026-10-31T15:00:00Z', 1, null],
    ['over the turn of the year', '2026-01-20T00:00:00Z', 1, '2025-12'],
    ['its own month, where the schedule registers that', '2026-10-20T00:00:00Z', 0, '2026-10'],
  ])('%s', (_, now, monthsBack, expected) => {
    expect(monthDue(new Date(now), 12, monthsBack)).toBe(expected)
  })

  test('is overdue for each active distributor without a REGISTERED job of it, whatever else was registered', async () => {
    const due = { registeredByDay: 1, monthsBack: 1 }
    await db.outside.change('update distributor set active = false')
    const month = monthDue(new Date(), 1, 1) ?? ''
    const look = async () => {
      const run = runWith(new Topic())
      const [counted, warned] = [countedBy(run), vi.spyOn(run.logger, 'warn')]
      const { overdue } = await sweep(run, due, QUIET_S)
      expect(counted).toContainEqual(['month.overdue', overdue])
      return {
        overdue,
        named: warned.mock.calls.flatMap(([text, line]) => (text === 'the month is overdue' ? [line] : [])),
      }
    }
    expect(await look()).toEqual({ overdue: 0, named: [] })
    const [settled, halted] = [await newSlice(db.outside, month), await newSlice(db.outside, month)]
    const correction = await newSlice(db.outside, '2020-01')
    for (const slice of [settled, halted, correction]) {
      const job = await openJob(testContext(db.connect()), opening(slice, `${slice.distributor}/1`, null))
      const change =
        slice === halted
          ? 'halted_at = current_timestamp(6)'
          : `state = 'REGISTERED', registered_at = current_timestamp(6)`
      await db.outside.change(`update job set ${change} where id = ?`, [job.id])
    }
    const late = [halted.distributor, correction.distributor].toSorted()
    expect(await look()).toEqual({ overdue: 2, named: [{ month, count: 2, overdue: late }] })
  })
})
