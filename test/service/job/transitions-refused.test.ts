import { describe, expect, test } from 'vitest'
import type { Guarded } from '../../../functions/contract/messages.ts'
import { markRegistered } from '../../../functions/job/mark-registered.ts'
import { openJob } from '../../../functions/job/open-job.ts'
import type { TaskContext } from '../../../functions/job/task.ts'
import { beginRegistering, markDeleted, planDelete } from '../../../functions/job/transitions.ts'
import { acquisitionOf, type ExclusiveTx, guardExclusive } from '../../../functions/store/job/guard.ts'
import { exclusively } from '../../../functions/store/job/held.ts'
import { progressOf } from '../../../functions/store/job/ledger.ts'
import { countDeletePlan, markState } from '../../../functions/store/job/mark-state.ts'
import { readJob } from '../../../functions/store/job/row.ts'
import { totalsOf } from '../../../functions/store/share-ratio.ts'
import { EVERYTHING, registerAll } from '../../support/chunk-work.ts'
import { planChunks } from '../../support/rows.ts'
import { useStagedJobs } from '../../support/staged-jobs.ts'
import { guarded, opening } from '../../support/test-context.ts'
import { linesOf, newSlice } from '../../support/test-database.ts'

const { db, run, setState, staged, deleted } = useStagedJobs('transitions')

describe('a run whose lock is gone', () => {
  const tasks: readonly (readonly [string, string, (by: TaskContext, input: Guarded) => Promise<unknown>])[] = [
    ['plans no delete', 'DELETING', planDelete],
    ['does not set DELETED', 'DELETING', markDeleted],
    ['does not begin to register', 'DELETED', beginRegistering],
    ['does not set REGISTERED', 'REGISTERING', markRegistered],
    ['writes no chunk', 'REGISTERING', (by, input) => registerAll(by, { ...input, item: EVERYTHING }, [linesOf(0, 2)])],
  ]

  test.each(tasks)('%s', async (_, state, work) => {
    const { message, manifest } = await staged('a', 1)
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'a/1', null, { staged: message }))
    await setState(job.id, state)
    if (state === 'REGISTERING') await planChunks(db.outside, job.id, manifest.chunks)
    const lost = { ...guarded(slice, job, 'a/1'), lock: { token: 'a/1', held: true } }
    await expect(work(run(), lost)).rejects.toMatchObject({ name: 'LockLost' })
    const row = await readJob(db.outside, job.id)
    expect(row).toMatchObject({ state, delete_plans: 0 })
    expect(await progressOf(db.outside, job.id, 'register')).toMatchObject({ marked: 0 })
  })
})

describe('a run whose job number and fence are another run’s too, as after a restore', () => {
  const given = async (state: string) => {
    const { message, manifest, body } = await staged('7', 1)
    const slice = await newSlice(db.outside)
    const job = await openJob(run(), opening(slice, 'b/1', null, { staged: message }))
    await setState(job.id, state)
    if (state.startsWith('REGISTER')) await planChunks(db.outside, job.id, manifest.chunks)
    return { slice, job, bodies: [body(0)], input: guarded(slice, job, 'a/1') }
  }

  test.each([
    ['plans no delete', 'DELETING', planDelete],
    ['does not set DELETED', 'DELETING', markDeleted],
    ['is not told DELETED again', 'DELETED', markDeleted],
    ['does not begin to register', 'DELETED', beginRegistering],
    ['is not told what is left to register', 'REGISTERING', beginRegistering],
    ['does not set REGISTERED', 'REGISTERING', markRegistered],
    ['is not told REGISTERED again, so it cannot end as a success', 'REGISTERED', markRegistered],
  ] as const)('%s', async (_, state, work) => {
    const { job, input } = await given(state)
    const refused = work(run(), input)
    await expect(refused).rejects.toMatchObject({ name: 'StaleFence', job: job.id, fence: job.fence })
    await expect(refused).rejects.toThrow('The database went back to an earlier moment, and another run was given')
    expect(await readJob(db.outside, job.id)).toMatchObject({ state, delete_plans: 0, lock_token: 'b/1' })
  })

  test('writes no chunk', async () => {
    const { slice, job, input, bodies } = await given('REGISTERING')
    const refused = registerAll(run(), { ...input, item: EVERYTHING }, bodies)
    await expect(refused).rejects.toMatchObject({ name: 'StaleFence' })
    expect(await progressOf(db.outside, job.id, 'register')).toMatchObject({ marked: 0 })
    expect((await totalsOf(db.outside, { ...slice, slot: 0 })).rows).toBe(0)
  })
})

describe('a transition that changes no row', () => {
  test('is an error by name, for the state and for the count of plans', async () => {
    const { input, job } = await deleted('8', 1)
    await setState(job.id, 'DELETING')
    const by = acquisitionOf(input)
    for (const [column, value] of [
      ['fence', 2],
      ['lock_token', 'b/2'],
      ['state', 'DELETED'],
    ] as const)
      for (const write of [
        (guarded: ExclusiveTx<'DELETING'>) => markState(guarded, 'DELETED'),
        (guarded: ExclusiveTx<'DELETING'>) => countDeletePlan(guarded),
      ]) {
        const changed = exclusively(db.outside, by.id, async (held) => {
          const guarded = await guardExclusive(held, by, 'DELETING')
          // What no other session can do meanwhile, a defect within the same transaction could.
          await held.change(`update job set ${column} = ? where id = ?`, [value, by.id])
          await write(guarded)
        })
        await expect(changed).rejects.toMatchObject({ name: 'StaleFence' })
      }
    expect(await readJob(db.outside, job.id)).toMatchObject({ state: 'DELETING', delete_plans: 0 })
  })
})
