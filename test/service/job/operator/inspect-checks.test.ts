import { describe, expect, test } from 'vitest'
import { monthDate } from '../../../../functions/contract/words.ts'
import { jobsOf } from '../../../support/invariants.ts'
import { FILE, useInspect, WITHOUT_LOCK } from './use-inspect.ts'

const { heldAt, kim, on, registered } = useInspect()
const { on: without, kim: cutOff } = useInspect(WITHOUT_LOCK)

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
    const checks = await kim().ask({ question: 'checks', ...RANGE })
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
    expect(checks.shown.filter(({ distributor }) => distributor === slice.distributor)).toEqual([
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
    const { openJobs } = await kim().ask({ question: 'checks', ...RANGE })
    const open = openJobs.find((each) => each.job === job?.id)
    expect(open).toMatchObject({ ...slice, status: 'being replaced', lock: { job: job?.id } })
    expect(open?.quietS).toBeGreaterThanOrEqual(3_600)
    await end()
    const after = await kim().ask({ question: 'checks', ...RANGE })
    expect(after.openJobs.filter((each) => each.job === job?.id)).toEqual([])
  })

  test("tell of locks that no job carries: of a slice's older run, and where there never was a job", async () => {
    const slice = await registered('2033-03')
    const empty = { ...slice, month: '2033-01' }
    const outside = { ...slice, month: '2033-04' }
    for (const each of [slice, empty, outside]) await on().valkey.set(on().lockKey(each), 'lost/1', 'PX', 60_000)
    const { strayLocks } = await kim().ask({ question: 'checks', ...RANGE })
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
    const checks = await cutOff().ask({ question: 'checks', ...RANGE })
    expect(checks.lockProblem).toMatch(/^Valkey did not answer/)
    expect(checks.openJobs).toMatchObject([{ ...slice, lock: 'unreachable' }])
    expect(checks.strayLocks).toEqual([])
  })
})
