import { describe, expect, test, vi } from 'vitest'
import { markRegistered } from '../../../functions/job/mark-registered.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import { beginRegistering } from '../../../functions/job/transitions.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { EVERYTHING, registerAll } from '../../support/chunk-work.ts'
import { loadRows } from '../../support/rows.ts'
import { useStagedJobs } from '../../support/staged-jobs.ts'
import { countedBy, headOf, opening } from '../../support/test-context.ts'
import { linesOf } from '../../support/test-database.ts'

const { db, run, setState, stateOf, deleted } = useStagedJobs('transitions')

describe('REGISTERED', () => {
  const registered = async (letter: string, chunks: number) => {
    const begun = await deleted(letter, chunks)
    await beginRegistering(run(), begun.input)
    const bodies = Array.from({ length: chunks }, (_, number) => begun.body(number))
    return { ...begun, bodies, whole: { ...begun.input, item: EVERYTHING } }
  }

  test('is told to subscribers with what was registered, once, and how long the run held the slice is counted', async () => {
    const { input, whole, bodies, slice, job, message } = await registered('2', 2)
    await registerAll(run(), whole, bodies)
    const by = run()
    const counted = countedBy(by)
    expect(await markRegistered(by, input)).toEqual({ ...job, state: 'REGISTERED' })
    expect(await markRegistered(by, input)).toEqual({ ...job, state: 'REGISTERED' })
    expect(counted.map(([name]) => name)).toEqual(['lock.hold.duration'])
    expect(counted[0]?.[1]).toBeGreaterThan(0)
    const events = await db.outside.rows('select type, payload from outbox where job_id = ?', [job.id])
    const payload = {
      distributor: slice.distributor,
      month: slice.month,
      job: job.id,
      fence: job.fence,
      source: message.digest,
      rows: 16,
      shareSum: '400.000000',
    }
    expect(events).toEqual([{ type: 'JobRegistered', payload }])
  })

  test('is refused with chunks to do, and without any chunk at all, telling how many', async () => {
    const { input, whole, bodies, job } = await registered('3', 2)
    await registerAll(run(), { ...whole, item: { from: 0, to: 0 } }, bodies)
    await expect(markRegistered(run(), input)).rejects.toMatchObject({
      name: 'ChunksUnfinished',
      message: expect.stringContaining('1 of 2 chunks'),
      job: job.id,
      fence: 1,
      state: 'REGISTERING',
    })
    await db.outside.change('delete from job_chunk where job_id = ?', [job.id])
    await expect(markRegistered(run(), input)).rejects.toMatchObject({ name: 'ChunksUnfinished' })
  })

  test('is refused to a run that was overtaken while it counted, and no take-over waits for a count', async () => {
    const { input, whole, bodies, slice, job, message } = await registered('9', 1)
    await registerAll(run(), whole, bodies)
    const by = run()
    const rows = by.database.rows.bind(by.database)
    vi.spyOn(by.database, 'rows').mockImplementation(async (sql, ...more) => {
      const found = await rows(sql, ...more)
      if (sql.includes('sum(share)')) await openJob(run(), opening(slice, 'b/2', headOf(job), { staged: message }))
      return found as never
    })
    await expect(markRegistered(by, input)).rejects.toMatchObject({ name: 'StaleFence', fence: 1 })
    expect(await readJob(db.outside, job.id)).toMatchObject({ state: 'REGISTERING', fence: 2, lock_token: 'b/2' })
  })

  test('is refused where a restore took a chunk back behind the count', async () => {
    const { input, whole, bodies, job } = await registered('c', 2)
    await registerAll(run(), whole, bodies)
    const by = run()
    const begin = by.database.begin.bind(by.database)
    vi.spyOn(by.database, 'begin').mockImplementationOnce(async (patienceS) => {
      await db.outside.change('update job_chunk set marked_at = null where job_id = ? and number = 1', [job.id])
      return await begin(patienceS)
    })
    await expect(markRegistered(by, input)).rejects.toMatchObject({ name: 'ChunksUnfinished' })
    expect(await stateOf(job.id)).toBe('REGISTERING')
  })

  test('is counted again where a restore took REGISTERED itself back', async () => {
    const { input, whole, bodies, job } = await registered('d', 1)
    await registerAll(run(), whole, bodies)
    await markRegistered(run(), input)
    const by = run()
    const begin = by.database.begin.bind(by.database)
    vi.spyOn(by.database, 'begin').mockImplementationOnce(async (patienceS) => {
      await setState(job.id, 'REGISTERING')
      await db.outside.change('update active_set set slot = null, job_id = null where job_id = ?', [job.id])
      return await begin(patienceS)
    })
    expect(await markRegistered(by, input)).toMatchObject({ state: 'REGISTERED' })
    expect(await stateOf(job.id)).toBe('REGISTERED')
  })

  test('is refused for a slice that does not hold what the file has, with both sums', async () => {
    const { input, whole, bodies, slice, job } = await registered('4', 1)
    await registerAll(run(), whole, bodies)
    await loadRows(db.outside, slice, linesOf(50, 1))
    await expect(markRegistered(run(), input)).rejects.toMatchObject({
      name: 'SliceMismatch',
      message: expect.stringMatching(
        /holds 12 rows summing to 300\.000000, the file has 8 rows summing to 200\.000000/,
      ),
      job: job.id,
      data: { rows: 12, shareSum: '300.000000', fileRows: 8, fileShareSum: '200.000000' },
    })
    expect(await stateOf(job.id)).toBe('REGISTERING')
  })

  test('is refused for a slice with one row more that sums to the very same', async () => {
    const { input, whole, bodies, slice } = await registered('f', 1)
    await registerAll(run(), whole, bodies)
    const halve = `where distributor_id = ? and isrc = 'KRA000000000' and party_id = 'P1'`
    await db.outside.change(`update share_ratio set share = 12.5 ${halve}`, [slice.distributorId])
    await loadRows(db.outside, slice, Buffer.from('KRA000000000\tPERFORMANCE\tP9\t12.500000\n'))
    await expect(markRegistered(run(), input)).rejects.toMatchObject({
      name: 'SliceMismatch',
      message: expect.stringContaining('holds 9 rows summing to 200.000000'),
    })
  })
})
