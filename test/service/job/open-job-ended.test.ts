import { describe, expect, test } from 'vitest'
import { haltFromStatusEvent } from '../../../functions/job/halt-job.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { readHead } from '../../../functions/job/read-head.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { endOf, headOf, LIFE, opening, testContext } from '../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../support/test-database.ts'

const db = useTestDatabase('open')
const run = () => testContext(db.connect())

/** Until the server holds a session back for a lock. */
const untilWaiting = async (): Promise<void> => {
  while ((await db.outside.rows('select 1 from performance_schema.data_lock_waits limit 1')).length === 0);
}

describe('an execution that has ended', () => {
  test('opens nothing any more: its OpenJob comes after its end', async () => {
    const slice = await newSlice(db.outside)
    expect(await haltFromStatusEvent(run(), endOf('ended/1'))).toMatchObject({ halted: false })
    const late = openJob(run(), opening(slice, 'ended/1', null))
    await expect(late).rejects.toMatchObject({ name: 'ExecutionEnded' })
    await expect(late).rejects.toThrow('before it opened the job. It changed nothing.')
    expect(await readHead(run(), slice)).toBeNull()
  })

  test('opens nothing over an open job either, and leaves it as it was', async () => {
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'other/1', null))
    await haltFromStatusEvent(run(), endOf('over/1'))
    const late = openJob(run(), opening(slice, 'over/1', headOf(job)))
    await expect(late).rejects.toMatchObject({ name: 'ExecutionEnded' })
    expect(await readHead(run(), slice)).toEqual(headOf(job))
  })

  test('while its OpenJob is in flight has the job halted that this one commits', async () => {
    const slice = await newSlice(db.outside)
    const opener = run()
    const [inserted, commits] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const commit = opener.database.commit.bind(opener.database)
    opener.database.commit = async () => {
      inserted.resolve()
      await commits.promise
      await commit()
    }
    const opened = openJob(opener, opening(slice, 'flight/1', null))
    await inserted.promise
    const halted = haltFromStatusEvent(run(), endOf('flight/1'))
    await untilWaiting()
    commits.resolve()
    const job = await opened
    expect(await halted).toMatchObject({ halted: true, job: job.id })
    expect(await readJob(db.outside, job.id)).toMatchObject({ fence: 2, halt_error: 'ExecutionABORTED' })
    await expect(openJob(run(), opening(slice, 'flight/1', null))).rejects.toMatchObject({ name: 'ExecutionEnded' })
  })

  test('while its OpenJob is frozen gets that one killed, and once awake it opens nothing', async () => {
    const slice = await newSlice(db.outside)
    const frozen = run()
    const [inserted, thaw] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const commit = frozen.database.commit.bind(frozen.database)
    frozen.database.commit = async () => {
      inserted.resolve()
      await thaw.promise
      await commit()
    }
    const opened = openJob(frozen, opening(slice, 'frozen/1', null))
    opened.catch(() => undefined)
    await inserted.promise
    expect(await haltFromStatusEvent(run(), endOf('frozen/1'))).toMatchObject({ halted: false, job: null })
    thaw.resolve()
    await expect(opened).rejects.toMatchObject({ name: 'ExecutionEnded' })
    expect(await readHead(run(), slice)).toBeNull()
  })

  test('opens again once it was redriven, and a later execution may use its name', async () => {
    await haltFromStatusEvent(run(), endOf('reused/1'))
    await haltFromStatusEvent(run(), endOf('reused/1', { redriveCount: 1 }))
    // Told late, twice: it does not take the newer end back.
    await haltFromStatusEvent(run(), endOf('reused/1'))
    for (const [life, opens] of [
      [{ ...LIFE, redrives: 0 }, false],
      [{ ...LIFE, redrives: 1 }, false],
      [{ ...LIFE, redrives: 2 }, true],
      [{ startedAt: '2027-01-05T00:00:00.000Z', redrives: 0 }, true],
    ] as const) {
      const opened = openJob(run(), { ...opening(await newSlice(db.outside), 'reused/1', null), life })
      if (opens) expect(await opened).toMatchObject({ outcome: 'opened' })
      else await expect(opened).rejects.toMatchObject({ name: 'ExecutionEnded' })
    }
  })

  test('is known by its start, whether that came as text or as a number, to the second', async () => {
    await haltFromStatusEvent(run(), endOf('rounded/1', { startedAt: '2026-10-01T00:00:00.400Z' }))
    const late = openJob(run(), opening(await newSlice(db.outside), 'rounded/1', null))
    await expect(late).rejects.toMatchObject({ name: 'ExecutionEnded' })
  })
})
