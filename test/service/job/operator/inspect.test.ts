import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { monthDate } from '../../../../functions/contract/words.ts'
import { holdTask, within } from '../../../support/faults.ts'
import { expectSettled, jobsOf, lockOf, rowsOf } from '../../../support/invariants.ts'
import { KIM, operatorFunctions } from '../../../support/operator-functions.ts'
import { shareFile } from '../../../support/share-file.ts'
import { useStack } from '../../../support/stack.ts'
import type { TestSlice } from '../../../support/test-stack.ts'

/* What operators are told, through Lambda's API and the real bundles. */
const on = useStack()
/** A Valkey that nobody listens for. */
const without = useStack({ variables: { LOCK_PORT: '1' } })

let kim: ReturnType<typeof operatorFunctions>
let cutOff: ReturnType<typeof operatorFunctions>
beforeAll(() => {
  kim = operatorFunctions(on())
  cutOff = operatorFunctions(without())
})
afterAll(() => {
  kim.close()
  cutOff.close()
})

const FILE = shareFile(200, 81)
const OLD = shareFile(150, 82)
/** Four chunks. */
const CHUNK_ROWS = 50
const ISO = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const TIME = expect.stringMatching(ISO)

const registered = async (month?: string): Promise<TestSlice> => {
  const slice = await on().newSlice(month)
  await on().seed(slice, OLD)
  const source = await on().stage(FILE, CHUNK_ROWS)
  expect(await on().run({ ...slice, source, requestedBy: 'lee' })).toMatchObject({ status: 'SUCCEEDED' })
  return slice
}

/** A run that waits at the door of a task. */
const heldAt = async (task: string) => {
  const slice = await on().newSlice()
  await on().seed(slice, OLD)
  const held = holdTask(on(), task, slice)
  const arn = await on().start({ ...slice, source: await on().stage(FILE, CHUNK_ROWS) })
  await within(on(), arn, held.reached)
  return {
    slice,
    arn,
    end: async () => {
      held.release()
      return await on().ended(arn)
    },
  }
}

describe('the deployment', () => {
  test("is the stage's machines and bucket", async () => {
    const { machineArn, machineArns, aws } = on().stack
    expect(await kim.ask({ question: 'deployment' })).toEqual({
      stage: 'local',
      stateMachineArn: machineArn,
      dispatchMachineArn: machineArns.DispatchStateMachine,
      bucket: aws.bucket,
    })
  })
})

describe('the slices', () => {
  test('of some months are one line each, of the newest job, newest month first', async () => {
    const slice = await on().newSlice('2031-02')
    const earlier = { ...slice, month: '2031-01' }
    const outside = { ...slice, month: '2030-12' }
    for (const [each, file] of [
      [slice, OLD],
      [slice, FILE],
      [earlier, FILE],
      [outside, FILE],
    ] as const)
      await on().run({ ...each, source: await on().upload(file), requestedBy: 'lee' })
    const [newest] = await jobsOf(on(), slice)
    const lines = await kim.ask({ question: 'slices', from: '2031-01', to: '2031-02' })
    expect(lines.map(({ distributor, month }) => ({ distributor, month }))).toEqual([slice, earlier])
    expect(lines[0]).toEqual({
      ...{ ...slice, job: newest?.id, state: 'REGISTERED', status: 'settled', fence: 2, execution: newest?.execution },
      ...{ requestedBy: 'lee', rows: FILE.rows, haltedAt: null, haltError: null },
      ...{ openedAt: TIME, registeredAt: TIME },
    })
  })

  test.each([
    ['that end before they begin', '2031-02', '2031-01'],
    ['of more months than an answer takes', '2031-01', '2033-01'],
  ])('%s are refused', async (_, from, to) => {
    await expect(kim.ask({ question: 'slices', from, to })).rejects.toMatchObject({ name: 'InvalidInput' })
  })
})

describe('a slice', () => {
  test('that is settled has its job with marks of every chunk, and no lock', async () => {
    const slice = await registered()
    const [job] = await jobsOf(on(), slice)
    const { jobs, ...rest } = await kim.ask({ question: 'slice', ...slice })
    expect(rest).toEqual({ ...slice, undo: null, lock: null, audit: [] })
    expect(jobs).toEqual([
      {
        ...{ job: job?.id, state: 'REGISTERED', status: 'settled', fence: 1, execution: job?.execution },
        ...{ requestedBy: 'lee', isUndo: false, halt: null },
        source: { digest: job?.source_digest, rows: FILE.rows, shareSum: expect.stringMatching(/^\d+\.\d{6}$/) },
        at: { created: TIME, opened: TIME, deleted: TIME, registering: TIME, registered: TIME, closed: null },
        delete: { chunks: 1, marked: 1, rows: OLD.rows, rowsMarked: OLD.rows, lastMarkedAt: TIME, map: '#' },
        register: { chunks: 4, marked: 4, rows: FILE.rows, rowsMarked: FILE.rows, lastMarkedAt: TIME, map: '####' },
      },
    ])
    expect(await kim.ask({ question: 'job', job: job?.id ?? 0 })).toEqual({ jobs, ...rest })
  })

  test('that is being replaced shows who holds its lock, and never the token', async () => {
    const { slice, arn, end } = await heldAt('RegisterChunk')
    const report = await kim.ask({ question: 'slice', ...slice })
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
    await kim.act({ action: 'stop', job: first?.id ?? 0, ...KIM })
    await end()
    const halted = await kim.ask({ question: 'slice', ...slice })
    expect(halted.jobs).toMatchObject([
      { status: 'halted', halt: { at: TIME, error: 'Stopped', cause: expect.stringContaining(KIM.why) } },
    ])
    expect(halted.audit).toMatchObject([{ ...KIM, action: 'stop', job: first?.id }])
    await on().run({ ...slice, source: await on().upload(OLD), supersede: true })
    const { jobs } = await kim.ask({ question: 'slice', ...slice })
    expect(jobs.map(({ status }) => status)).toEqual(['settled', 'closed'])
    expect(jobs[1]).toMatchObject({ job: first?.id, at: { closed: TIME } })
  })

  test('that never had a job is empty; one of an unknown distributor, and an unknown job, are refused', async () => {
    const slice = await on().newSlice()
    expect(await kim.ask({ question: 'slice', ...slice })).toEqual({
      ...slice,
      jobs: [],
      undo: null,
      lock: null,
      audit: [],
    })
    await expect(kim.ask({ question: 'slice', distributor: 'NOBODY', month: '2026-10' })).rejects.toMatchObject({
      name: 'UnknownDistributor',
    })
    await expect(kim.ask({ question: 'job', job: 999_999 })).rejects.toMatchObject({ name: 'UnknownJob' })
  })

  test('is told of even where Valkey does not answer', async () => {
    const slice = await without().newSlice()
    expect(await cutOff.ask({ question: 'slice', ...slice })).toMatchObject({ jobs: [], lock: 'unreachable' })
  })
})

describe('the rows', () => {
  test('of a slice are counted and summed exactly', async () => {
    const slice = await registered()
    const { jobs } = await kim.ask({ question: 'slice', ...slice })
    const { rows, shareSum } = jobs[0]?.source ?? {}
    expect(await kim.ask({ question: 'rows', ...slice })).toEqual({ rows, shareSum })
    expect(rows).toBe(await rowsOf(on(), slice))
    const empty = await on().newSlice()
    expect(await kim.ask({ question: 'rows', ...empty })).toEqual({ rows: 0, shareSum: '0.000000' })
  })
})

describe('the audit trail', () => {
  test('is told newest first, of everything, a distributor, a month or a slice, up to a limit', async () => {
    const slice = await on().newSlice('2032-01')
    const other = { ...slice, month: '2032-02' }
    const neighbour = await on().newSlice('2032-01')
    const ids: number[] = []
    for (const [index, each] of [slice, other, neighbour, slice].entries()) {
      const request = { action: 'record', what: 'start', ...each, source: 'incoming/a.csv', ...KIM } as const
      ids.push((await kim.act({ ...request, execution: `run-${index}` })).id)
    }
    const [first, second, third, fourth] = ids
    const told = async (filter: object) => (await kim.ask({ question: 'audit', ...filter })).map(({ id }) => id)
    expect(await told({ limit: 3 })).toEqual([fourth, third, second])
    expect(await told({ distributor: slice.distributor })).toEqual([fourth, second, first])
    expect(await told({ month: '2032-01' })).toEqual([fourth, third, first])
    expect(await told(slice)).toEqual([fourth, first])
    expect(await told({ ...slice, limit: 1 })).toEqual([fourth])
  })
})

describe('the checks', () => {
  const RANGE = { from: '2033-01', to: '2033-03' } as const

  test('tell of the server, of what is registered, and of events that wait', async () => {
    const slice = await registered('2033-02')
    const [job] = await jobsOf(on(), slice)
    await on().outside.query(
      `insert into outbox (event_id, job_id, type, payload, created_at)
       values (uuid(), ?, 'JobHalted', '{}', current_timestamp(6) - interval 90 second)`,
      [job?.id],
    )
    await on().outside.query(`insert into schema_migration (name) values ('999-later.sql')`)
    await on().outside.query(`delete from schema_migration where name = '002-readers.sql'`)
    const checks = await kim.ask({ question: 'checks', ...RANGE })
    await on().outside.query(`delete from schema_migration where name = '999-later.sql'`)
    await on().outside.query(`insert into schema_migration (name) values ('002-readers.sql')`)
    await on().outside.query('update outbox set published_at = current_timestamp(6) where job_id = ?', [job?.id])
    expect(checks.database).toEqual({
      facts: expect.objectContaining({
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        localInfile: true,
        isReadOnly: false,
      }),
      foreignRules: [],
      migrationsMissing: ['002-readers.sql'],
      migrationsUnknown: ['999-later.sql'],
    })
    expect(checks.lockProblem).toBeNull()
    expect(checks.unpublished.events).toBeGreaterThanOrEqual(1)
    expect(checks.unpublished.oldestS).toBeGreaterThanOrEqual(90)
    expect(checks.registered.filter(({ distributor }) => distributor === slice.distributor)).toEqual([
      {
        ...{ ...slice, job: job?.id, digest: job?.source_digest, rows: FILE.rows },
        shareSum: expect.stringMatching(/^\d+\.\d{6}$/),
      },
    ])
  })

  test('tell of every open job, of any month, with its lock and how long it has been quiet', async () => {
    const { slice, end } = await heldAt('PlanDelete')
    const [job] = await jobsOf(on(), slice)
    await on().outside.query('update job set opened_at = opened_at - interval 1 hour where id = ?', [job?.id])
    const { openJobs } = await kim.ask({ question: 'checks', ...RANGE })
    const open = openJobs.find((each) => each.job === job?.id)
    expect(open).toMatchObject({ ...slice, status: 'being replaced', lock: { job: job?.id } })
    expect(open?.quietS).toBeGreaterThanOrEqual(3_600)
    await end()
    const after = await kim.ask({ question: 'checks', ...RANGE })
    expect(after.openJobs.filter((each) => each.job === job?.id)).toEqual([])
  })

  test("tell of locks that no job carries: of a slice's older run, and where there never was a job", async () => {
    const slice = await registered('2033-03')
    const empty = { ...slice, month: '2033-01' }
    const outside = { ...slice, month: '2033-04' }
    for (const each of [slice, empty, outside]) await on().valkey.set(on().lockKey(each), 'lost/1', 'PX', 60_000)
    const { strayLocks } = await kim.ask({ question: 'checks', ...RANGE })
    const own = strayLocks.filter(({ distributor }) => distributor === slice.distributor)
    expect(own.map(({ month }) => month).toSorted()).toEqual(['2033-01', '2033-03'])
    expect(own[0]?.lock).toMatchObject({ holder: 'lost', job: null })
    for (const each of [slice, empty, outside]) await on().valkey.del(on().lockKey(each))
  })

  test('do without Valkey, and say why it does not answer', async () => {
    const slice = await without().newSlice()
    await without().outside.query(
      `insert into job (distributor_id, settlement_month, state, fence, lock_token, execution, requested_by,
                        source_digest, source_rows, source_share_sum)
       select id, ?, 'DELETING', 1, 'a/1', 'a', 'lee', repeat('0', 64), 1, 1 from distributor where code = ?`,
      [monthDate(slice.month), slice.distributor],
    )
    const checks = await cutOff.ask({ question: 'checks', ...RANGE })
    expect(checks.lockProblem).toMatch(/^Valkey did not answer/)
    expect(checks.openJobs).toMatchObject([{ ...slice, lock: 'unreachable' }])
    expect(checks.strayLocks).toEqual([])
  })
})

test.each([
  ['a question that does not exist', { question: 'secrets' }],
  ['a field too many', { question: 'deployment', token: true }],
  ['more lines than an answer takes', { question: 'audit', limit: 501 }],
])('%s is refused at the door', async (_, request) => {
  await expect(kim.ask(request as never)).rejects.toMatchObject({ name: 'InvalidInput' })
})
