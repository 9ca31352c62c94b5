import { expect, test } from 'vitest'
import { fitting } from '../../../../functions/contract/fitting.ts'
import { CALLER_CHARS_MAX, HALT_CAUSE_CHARS_MAX, WHY_CHARS_MAX } from '../../../../functions/contract/limits.ts'
import { OperateInput } from '../../../../functions/contract/operations.ts'
import { haltFromStatusEvent } from '../../../../functions/job/halt-job.ts'
import { openJob } from '../../../../functions/job/open-job.ts'
import { operate } from '../../../../functions/job/operator/operate/operate.ts'
import { auditLines } from '../../../../functions/store/audit.ts'
import { pendingEvents } from '../../../../functions/store/job/outbox.ts'
import { jobsOfSlice } from '../../../../functions/store/job/report.ts'
import { tryAcquire } from '../../../../functions/store/lock/acquire.ts'
import { tokenDigest } from '../../../../functions/store/lock/holder.ts'
import { endOf, opening, testContext } from '../../../support/test-context.ts'
import { newSlice, useTestDatabase } from '../../../support/test-database.ts'

/* A stop, a halt, a line of the trail never fail because of a text. */
const db = useTestDatabase('texts')

const ARN = `arn:aws:iam::123456789012:user/${'division/'.repeat(50)}kim`

test.each([
  ['Hangul and emoji', '파일이 잘못됨 😀', '파일이 잘못됨 😀'],
  ['half a surrogate pair', 'wrong \ud83d file', 'wrong \ufffd file'],
  ['control characters and quotes', `a\u0000\u0007\n\\'"\u2028b`, `a\u0000\u0007\n\\'"\u2028b`],
  ['an overlong text', '😀'.repeat(5_000), `${'😀'.repeat(249)}…`],
])('a job is stopped for a reason of %s, and its event is written', async (_, why, kept) => {
  const slice = await newSlice(db.outside)
  const run = testContext(db.connect())
  const { id } = await openJob(run, opening(slice, `${slice.distributor}/1`, null))
  const input = OperateInput.parse({ action: 'stop', caller: ARN, why, job: id })
  expect(await operate(run, input)).toMatchObject({ halted: true })
  expect(await auditLines(db.outside, { distributor: slice.distributor, limit: 9 })).toMatchObject([
    { action: 'stop', why: kept, caller: ARN },
  ])
  const [job] = await jobsOfSlice(db.outside, slice, 1)
  expect(job?.halt_cause?.length).toBeLessThanOrEqual(HALT_CAUSE_CHARS_MAX)
  expect(job?.halt_cause?.isWellFormed()).toBe(true)
  expect(await pendingEvents(db.outside, id)).toMatchObject([{ type: 'JobHalted' }])
})

test('a user with an ARN of more than 200 characters may operate and start', async () => {
  expect(ARN.length).toBeGreaterThan(400)
  const slice = await newSlice(db.outside)
  const { request, ...rest } = opening(slice, `${slice.distributor}/1`, null)
  await openJob(testContext(db.connect()), { ...rest, request: { ...request, requestedBy: ARN } })
  expect(await jobsOfSlice(db.outside, slice, 1)).toMatchObject([{ requested_by: ARN }])
})

test.each([
  ['Hangul', '정산-2026-10'],
  ['an overlong text', 'x'.repeat(5_000)],
  ['no text', ''],
])('a lock that a stranger set is deleted, though its holder is %s', async (_, holder) => {
  const slice = await newSlice(db.outside)
  const run = testContext(db.connect())
  const token = `${holder}/1`
  await tryAcquire(await run.lock(), slice, token)
  const { distributor, month } = slice
  const input = { action: 'unlock', caller: 'kim', distributor, month, tokenDigest: tokenDigest(token) }
  expect(await operate(run, OperateInput.parse(input))).toMatchObject({ holder, released: true })
})

test('an execution whose name no job could have is no trouble when it ends', async () => {
  for (const name of ['정산-2026-10', 'x'.repeat(500)]) {
    const end = haltFromStatusEvent(testContext(db.connect()), endOf(`${name}/1`))
    expect(await end).toEqual({ halted: false, job: null, released: false })
  }
})

test('what is too long is cut between two characters', () => {
  expect(fitting('abc', 3)).toBe('abc')
  expect(fitting('abcd', 3)).toBe('ab…')
  expect(fitting('a😀bc', 3)).toBe('a…')
  expect(fitting('a\udc00', 9)).toBe('a\ufffd')
  expect(CALLER_CHARS_MAX).toBeGreaterThanOrEqual(2_048)
  expect(WHY_CHARS_MAX).toBe(500)
})

test.each(['add', 'set'] as const)(
  'a distributor is %s once, with one line, though the reply to COMMIT was lost',
  async (mode) => {
    const { distributor: code } = await newSlice(db.outside)
    const database = db.connect()
    const commit = database.commit.bind(database)
    let commits = 0
    database.commit = async () => {
      await commit()
      commits += 1
      if (commits === 1) throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', fatal: true })
    }
    const fields = {
      code: mode === 'set' ? code : `${code}-new`,
      name: '지니',
      active: true,
      sumRule: 'exact',
      partyScheme: 'ipi',
    }
    const input = OperateInput.parse({ action: 'put-distributor', caller: 'kim', mode, distributor: fields })
    expect(await operate(testContext(database), input)).toMatchObject({ code: fields.code, name: '지니' })
    expect(commits).toBe(2)
    expect(await auditLines(db.outside, { distributor: fields.code, limit: 9 })).toMatchObject([
      { action: `${mode}-distributor` },
    ])
  },
)
