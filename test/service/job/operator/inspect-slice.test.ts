import { describe, expect, test } from 'vitest'
import { expectSettled, jobsOf, lockOf } from '../../../support/invariants.ts'
import { KIM } from '../../../support/operator-functions.ts'
import { FILE, OLD, TIME, useInspect, WITHOUT_LOCK } from './use-inspect.ts'

const { heldAt, kim, on, registered } = useInspect()
const { on: without, kim: cutOff } = useInspect(WITHOUT_LOCK)

describe('a slice', () => {
  test('that is settled has its job with marks of every chunk, and no lock', async () => {
    const slice = await registered()
    const [job] = await jobsOf(on(), slice)
    const { jobs, ...rest } = await kim().ask({ question: 'slice', ...slice })
    expect(rest).toEqual({ ...slice, active: job?.id, undo: null, lock: null, audit: [] })
    expect(jobs).toEqual([
      {
        ...{ job: job?.id, state: 'REGISTERED', status: 'settled', fence: 1, execution: job?.execution },
        ...{ requestedBy: 'lee', isUndo: false, slot: 0, waitsFor: null, halt: null },
        source: { digest: job?.source_digest, rows: FILE.rows, shareSum: expect.stringMatching(/^\d+\.\d{6}$/) },
        at: {
          ...{ created: TIME, opened: TIME, deleted: TIME, registering: TIME, registered: TIME },
          ...{ withdrawn: null, closed: null },
        },
        delete: { chunks: 1, marked: 1, rows: OLD.rows, rowsMarked: OLD.rows, lastMarkedAt: TIME, map: '#' },
        register: { chunks: 4, marked: 4, rows: FILE.rows, rowsMarked: FILE.rows, lastMarkedAt: TIME, map: '####' },
      },
    ])
    expect(await kim().ask({ question: 'job', job: job?.id ?? 0 })).toEqual({ jobs, ...rest })
  })

  test('that is being replaced shows who holds its lock, and never the token', async () => {
    const { slice, arn, end } = await heldAt('RegisterChunk')
    const report = await kim().ask({ question: 'slice', ...slice })
    const lock = await lockOf(on(), slice)
    const [job] = await jobsOf(on(), slice)
    expect(report.jobs).toMatchObject([
      {
        ...{ job: job?.id, state: 'REGISTERING', status: 'being replaced' },
        register: { chunks: 4, marked: 0, rows: FILE.rows, rowsMarked: 0, lastMarkedAt: null, map: '....' },
      },
    ])
    expect(report.lock).toEqual({
      holder: arn.split(':').at(-1),
      tokenDigest: expect.stringMatching(/^[0-9a-f]{12}$/),
      remainingMs: expect.any(Number),
      job: job?.id,
    })
    expect(lock?.token).toBeDefined()
    expect(JSON.stringify(report)).not.toContain(lock?.token.split('/')[1])
    await end()
    await expectSettled(on(), slice, FILE)
  })

  test('shows a halted and a closed job as such, newest first, with why', async () => {
    const { slice, end } = await heldAt('RegisterChunk')
    const [first] = await jobsOf(on(), slice)
    await kim().act({ action: 'stop', job: first?.id ?? 0, ...KIM })
    await end()
    const halted = await kim().ask({ question: 'slice', ...slice })
    expect(halted.jobs).toMatchObject([
      { status: 'halted', halt: { at: TIME, error: 'Stopped', cause: expect.stringContaining(KIM.why) } },
    ])
    expect(halted.audit).toMatchObject([{ ...KIM, action: 'stop', job: first?.id }])
    await on().run({ ...slice, source: await on().upload(OLD), supersede: true })
    const { jobs } = await kim().ask({ question: 'slice', ...slice })
    expect(jobs.map(({ status }) => status)).toEqual(['settled', 'closed'])
    expect(jobs[1]).toMatchObject({ job: first?.id, at: { closed: TIME } })
  })

  test('with many jobs since still shows the one that is asked for by its number, last', async () => {
    const slice = await registered()
    const [first] = await jobsOf(on(), slice)
    for (let fence = 2; fence <= 22; fence++)
      await on().outside.query(
        `insert into job (distributor_id, settlement_month, state, fence, execution, requested_by, source_digest,
                          source_rows, source_share_sum, closed_at)
         select distributor_id, settlement_month, 'DELETING', ?, 'later', 'test', source_digest, 1, 1,
                current_timestamp(6) from job where id = ?`,
        [fence, first?.id],
      )
    const { jobs } = await kim().ask({ question: 'job', job: first?.id ?? 0 })
    expect(jobs.map(({ fence }) => fence)).toEqual([...Array.from({ length: 20 }, (_, at) => 22 - at), 1])
    expect(jobs.at(-1)).toMatchObject({ job: first?.id, state: 'REGISTERED', register: { map: '####' } })
    expect((await kim().ask({ question: 'slice', ...slice })).jobs).toHaveLength(20)
  })

  test('that never had a job is empty; one of an unknown distributor, and an unknown job, are refused', async () => {
    const slice = await on().newSlice()
    expect(await kim().ask({ question: 'slice', ...slice })).toEqual({
      ...slice,
      jobs: [],
      active: null,
      undo: null,
      lock: null,
      audit: [],
    })
    await expect(kim().ask({ question: 'slice', distributor: 'NOBODY', month: '2026-10' })).rejects.toMatchObject({
      name: 'UnknownDistributor',
    })
    await expect(kim().ask({ question: 'job', job: 999_999 })).rejects.toMatchObject({ name: 'UnknownJob' })
  })

  test('is told of even where Valkey does not answer', async () => {
    const slice = await without().newSlice()
    expect(await cutOff().ask({ question: 'slice', ...slice })).toMatchObject({ jobs: [], lock: 'unreachable' })
  })
})
