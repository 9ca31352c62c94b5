import { expect, test } from 'vitest'
import type { JobFact, WriteFact } from '../../support/audit.ts'
import type { LockFact } from '../../support/lock-watch.ts'
import { type Call, judgeJobs, judgeLocks, judgeOwners, judgeWrites } from '../../support/timeline.ts'
import { MOMENTS } from '../matrix/moments.ts'
import { combinations, FAULTS } from '../matrix.ts'
import { runMatrix } from '../run-matrix.ts'

/* The fault matrix itself (`npm run test:faults` runs the whole of it): two cells, and the checker's own eyes. */

/** A lab with servers of its own, and six runs: half a minute, and much longer on a machine that is busy with other things. */
const LAB_MS_MAX = 600_000

const only = (fault: string, moment: string) => combinations({ fault, moment })

test(
  'a run that is killed and one that another run outlives, through the matrix, end without a violation',
  async () => {
    const cells = [...only('lambda-killed', 'delete-chunk'), ...only('lambda-outlived', 'mark-deleted')]
    const { results, notRun } = await runMatrix(cells, 1, () => undefined)
    expect(notRun).toEqual([])
    expect(results).toMatchObject([
      { fault: 'lambda-killed', outcome: 'exact', violations: [] },
      { fault: 'lambda-outlived', outcome: 'StaleFence; exact by another run', violations: [] },
    ])
  },
  LAB_MS_MAX,
)

test('every fault has a moment and every moment a fault, under names of their own', () => {
  expect(new Set(FAULTS.map(({ id }) => id)).size).toBe(FAULTS.length)
  expect(MOMENTS).toHaveLength(14 + 8)
  expect(FAULTS.filter(({ id }) => combinations({ fault: id }).length === 0)).toEqual([])
  expect(MOMENTS.filter(({ id }) => combinations({ moment: id }).length === 0)).toEqual([])
})

test('the beginnings take turns, three tries have all of them, and an undo has its set in the other slot', () => {
  const [one] = combinations({ fault: 'lambda-killed', moment: 'delete-chunk' })
  const three = combinations({ fault: 'lambda-killed', moment: 'delete-chunk' }, 3)
  expect(three.map(({ beginning }) => beginning).sort()).toEqual(['first', 'in-place', 'standby'])
  expect(three[0]).toEqual(one)
  const counts = combinations().map(({ beginning }) => beginning)
  for (const beginning of ['first', 'in-place', 'standby'])
    expect(counts.filter((each) => each === beginning).length).toBeGreaterThan(counts.length / 4)
  expect(new Set(combinations({ moment: 'reuse-set' }).map(({ beginning }) => beginning))).toEqual(new Set(['standby']))
})

const call = (task: string, told: object): Call => ({ pid: 1, task, at: 0, event: told })
const job7 = { job: { id: 7, fence: 3 }, lock: { token: 'run/1' } }
const write = (change: Partial<WriteFact>): WriteFact => ({
  ...{ id: 1, thread: 5, kind: 'insert', job: 7, state: 'REGISTERING', fence: 3, token: 'run/1', at: 10 },
  ...change,
})

test('the checker sees a write under an old fence, in a wrong state and by nobody known', () => {
  const told = () => call('RegisterChunk', job7)
  expect(judgeWrites([write({}), write({ kind: 'delete', state: 'DELETING' })], told)).toEqual([])
  expect(judgeWrites([write({ fence: 4 })], told)).toEqual([
    'RegisterChunk of job 7 wrote under fence 3 while job 7 had fence 4: insert',
  ])
  expect(judgeWrites([write({ job: 8 })], told)).toHaveLength(1)
  expect(judgeWrites([write({ state: 'DELETED' })], told)).toEqual([
    'rows were changed by insert while the job was DELETED',
  ])
  expect(judgeWrites([write({})], () => undefined)).toHaveLength(1)
  expect(judgeWrites([write({ token: 'restored/1' })], told)).toEqual([
    'RegisterChunk of another acquisition wrote to job 7: insert',
  ])
})

const change = (facts: Partial<JobFact>): JobFact => ({
  ...{
    id: 1,
    job: 7,
    thread: 5,
    execution: 'arn:run',
    old_state: 'DELETING',
    state: 'DELETING',
    old_fence: 3,
    fence: 3,
    old_token: 'run/1',
  },
  ...{ token: 'run/1', halted: 0, closed: 0, reuses: 0, slice_rows: null, source_rows: 100, at: 5 },
  ...facts,
})
const opened = change({ old_state: null, old_fence: null, old_token: null })

test('the checker sees a state that was skipped, set over rows, and a second open job', () => {
  const deleted = change({ state: 'DELETED', slice_rows: 0 })
  const registering = change({ old_state: 'DELETED', state: 'REGISTERING' })
  const registered = change({ old_state: 'REGISTERING', state: 'REGISTERED', slice_rows: 100 })
  expect(judgeJobs([opened, deleted, registering, registered])).toEqual([])
  expect(judgeJobs([opened, { ...deleted, slice_rows: 1 }])).toEqual(['job 7 was marked DELETED over 1 rows'])
  expect(judgeJobs([opened, change({ state: 'REGISTERING' })])).toEqual(['job 7 went from DELETING to REGISTERING'])
  expect(judgeJobs([{ ...registered, slice_rows: 99 }])).toEqual(['job 7 was marked REGISTERED over 99 rows of 100'])
  expect(judgeJobs([opened, { ...opened, job: 8, fence: 4 }])).toEqual(['jobs 7 and 8 were open at once'])
  expect(judgeJobs([opened, { ...opened, job: 8, fence: 3, closed: 1 }])).toEqual(['job 8 began under fence 3 after 3'])
  expect(judgeJobs([change({ fence: 2 })])).toEqual(['job 7 fell from fence 3 to 2'])
})

test('the checker lets a set be shown in one step only where its slot held it', () => {
  const shown = change({ state: 'REGISTERED', slice_rows: 100, reuses: 1 })
  expect(judgeJobs([opened, shown])).toEqual([])
  expect(judgeJobs([opened, { ...shown, reuses: 0 }])).toEqual(['job 7 went from DELETING to REGISTERED'])
  expect(judgeJobs([opened, { ...shown, slice_rows: 99 }])).toEqual(['job 7 was marked REGISTERED over 99 rows of 100'])
})

test('the checker sees a state set by another acquisition, and a job halted for an execution that is not its own', () => {
  const deleted = change({ state: 'DELETED', slice_rows: 0 })
  const halted = change({ halted: 1, fence: 4, token: null })
  const by = (task: string, told: object) => () => call(task, told)
  expect(judgeOwners([opened, deleted], by('MarkDeleted', job7))).toEqual([])
  expect(judgeOwners([deleted], by('MarkDeleted', { ...job7, lock: { token: 'run/2' } }))).toEqual([
    'MarkDeleted of another acquisition made job 7 DELETED',
  ])
  expect(judgeOwners([halted], by('HaltJob', { ...job7, execution: 'arn:run' }))).toEqual([])
  expect(judgeOwners([halted], by('Sweep', { registeredByDay: 28 }))).toEqual([])
  expect(judgeOwners([halted], by('HaltJob', { detail: { executionArn: 'arn:other' } }))).toEqual([
    'HaltJob of arn:other halted job 7, which is that of arn:run',
  ])
})

const lock = (facts: Partial<LockFact>): LockFact => ({
  ...{ at: 9, kind: 'del', port: 1, token: 'run/1', ttlMs: 0, holder: 'run/1' },
  ...facts,
})

test('the checker sees a lock created by a renewal, changed by a stranger, without an end, and released too early', () => {
  const by = (task: string) => () => [call(task, job7)]
  const raised = change({ token: null, fence: 4, halted: 1, at: 8 })
  const set = lock({ kind: 'set', ttlMs: 300_000, holder: undefined })
  expect(judgeLocks([set], [], by('AcquireLock'))).toEqual([])
  expect(judgeLocks([lock({})], [opened, raised], by('HaltJob'))).toEqual([])
  expect(judgeLocks([set], [], by('RegisterChunk'))).toEqual(['RegisterChunk created the lock'])
  expect(judgeLocks([{ ...set, ttlMs: Number.POSITIVE_INFINITY }], [], by('AcquireLock'))).toHaveLength(1)
  expect(judgeLocks([{ ...set, holder: 'other/1' }], [], by('AcquireLock'))).toHaveLength(1)
  expect(judgeLocks([lock({ token: 'other/1' })], [], by('ReleaseLock'))).toHaveLength(1)
  expect(judgeLocks([lock({})], [opened, { ...raised, at: 10 }], by('HaltJob'))).toEqual([
    'HaltJob released the lock while its job was open under an unraised fence',
  ])
  expect(judgeLocks([lock({ token: 'other/1' })], [], () => [])).toEqual([])
  // Sent for an earlier call, executed when the process served the next one.
  const late = () => [call('AcquireLock', { lock: { token: 'run/2' } }), call('AcquireLock', job7)]
  expect(judgeLocks([set], [], late)).toEqual([])
})
