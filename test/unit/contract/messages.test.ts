import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { Manifest } from '../../../functions/contract/manifest.ts'
import * as messages from '../../../functions/contract/messages.ts'

/*
 * The doors of the tasks: each takes exactly what its neighbour in the state machine sends, and nothing beside it.
 */

const DIGEST = '0123456789abcdef'.repeat(4)
const request = { distributor: 'ARIA', month: '2026-10', source: { key: 'incoming/ARIA/2026-10.csv' } }
const execution = 'arn:aws:states:ap-northeast-2:000000000000:execution:Job:ARIA-2026-10-1'
const full = {
  ...{ ...request, onHeld: 'wait', onOutage: 'proceed', supersede: true, force: true, requestedBy: 'schedule' },
  expect: { digest: DIGEST, head: { job: 11, fence: 2, state: 'REGISTERED' }, after: [execution] },
}
const slice = { distributorId: 7, distributor: 'ARIA', month: '2026-10' }
const staged = { digest: DIGEST, rows: 800_000, shareSum: '20000000.000000', chunks: 80 }
const lock = { token: 'ARIA-2026-10-1/8c5f', held: true }
const job = { id: 12, fence: 3, state: 'REGISTERING', outcome: 'taken over' }
const head = { job: 12, fence: 3 }
const guarded = { slice, lock, onOutage: 'halt', job }
const failure = { Error: 'ChunkMismatch', Cause: '{}' }
const fromCatch = { execution, slice, lock, job, failure }
const life = { startedAt: '2026-10-31T09:15:00.123Z', redrives: 0 }
const detail = { executionArn: execution, status: 'TIMED_OUT', startDate: 1_793_438_100_123, redriveCount: 0 }
const statusEvent = { 'detail-type': 'Step Functions Execution Status Change', detail }
const month = {
  month: '2026-10',
  starts: [
    {
      ...{ distributor: 'ARIA', ending: 'csv.gz', run: 'scheduled-0123456789ab-2' },
      head: { job: 11, fence: 2, state: 'REGISTERED' },
    },
  ],
  already: [{ distributor: 'BALLAD', job: 12 }],
  left: [{ distributor: 'CANTATA', reason: 'job 13, requested by kim, REGISTERED at 2026-11-10T02:00:00.000Z' }],
  leftCount: 1,
  missing: [{ distributor: 'DUET', reason: 'no file' }],
  missingCount: 1,
}
const manifest = {
  version: 1,
  digest: DIGEST,
  rows: 30,
  shareSum: '1000.000000',
  tracks: 10,
  parties: 12,
  chunks: [
    { number: 0, rows: 20, bytes: 900, digest: DIGEST, firstIsrc: 'KRA012600001', lastIsrc: 'KRA012600006' },
    { number: 1, rows: 10, bytes: 450, digest: DIGEST, firstIsrc: 'KRA012600007', lastIsrc: 'KRA012600010' },
  ],
}

/** Door, what comes through it. */
const DOORS: readonly (readonly [string, z.ZodType, object])[] = [
  ['ExecutionInput', messages.ExecutionInput, full],
  ['StageSourceInput', messages.StageSourceInput, { request: full, execution }],
  [
    'StageSourceOutput',
    messages.StageSourceOutput,
    { request: full, execution, slice, staged, job: null, reacquire: { count: 0 } },
  ],
  ['AcquireLockInput', messages.AcquireLockInput, { slice, lock, onHeld: 'fail', own: job }],
  ['HeadOutput', messages.HeadOutput, { head }],
  ['ReadHeadInput', messages.ReadHeadInput, { slice }],
  ['OpenJobInput', messages.OpenJobInput, { request: full, execution, life, slice, staged, lock, head, own: job }],
  ['TransitionInput', messages.TransitionInput, guarded],
  ['ChunkInput', messages.ChunkInput, { ...guarded, item: { from: 8, to: 15 } }],
  ['ItemsOutput', messages.ItemsOutput, { chunks: 9, items: [{ from: 0, to: 8 }] }],
  ['ReleaseLockInput', messages.ReleaseLockInput, { slice, lock }],
  ['PublishEventsInput', messages.PublishEventsInput, { job }],
  ['HaltJobInput, from the Catch', messages.HaltJobInput, fromCatch],
  ['PlanMonthInput, of a month', messages.PlanMonthInput, { request: { month: '2026-10' }, monthsBack: 1 }],
  [
    'PlanMonthInput, of the schedule',
    messages.PlanMonthInput,
    { request: { scheduledAt: '2026-11-09T17:00:00Z' }, monthsBack: 1 },
  ],
  ['PlanMonthOutput', messages.PlanMonthOutput, month],
  ['SweepInput', messages.SweepInput, { registeredByDay: 12, monthsBack: 1 }],
  ['Manifest', Manifest, manifest],
]

/** The objects inside a message, itself first, each as a copy of the whole with that object changed. */
const changedAnywhere = (value: unknown, change: (object: object) => object): unknown[] => {
  if (Array.isArray(value))
    return value.flatMap((each, at) => changedAnywhere(each, change).map((changed) => value.with(at, changed)))
  if (typeof value !== 'object' || value === null) return []
  const deeper = Object.entries(value).flatMap(([name, inner]) =>
    changedAnywhere(inner, change).map((changed) => ({ ...value, [name]: changed })),
  )
  return [change(value), ...deeper]
}

describe.each(DOORS)('%s', (_, schema, message) => {
  test('takes its message as it is', () => {
    expect(schema.parse(message)).toEqual(message)
  })

  test('takes no field it does not know, at any depth', () => {
    const strange = changedAnywhere(message, (object) => ({ ...object, stranger: 1 }))
    expect(strange.filter((each) => schema.safeParse(each).success)).toEqual([])
  })

  test('takes nothing empty in place of any of its parts', () => {
    const emptied = changedAnywhere(message, () => ({}))
    expect(emptied.filter((each) => schema.safeParse(each).success)).toEqual([])
  })
})

test('HaltJob takes the status event with whatever else EventBridge puts into it', () => {
  const event = { ...statusEvent, id: 'x', detail: { ...detail, input: '{}' } }
  expect(messages.HaltJobInput.parse(event)).toEqual(statusEvent)
  for (const status of ['FAILED', 'ABORTED', 'TIMED_OUT'])
    expect(messages.HaltJobInput.safeParse({ ...statusEvent, detail: { ...detail, status } }).success).toBe(true)
  for (const status of ['RUNNING', 'SUCCEEDED'])
    expect(messages.HaltJobInput.safeParse({ ...statusEvent, detail: { ...detail, status } }).success).toBe(false)
  expect(messages.HaltJobInput.safeParse({ 'detail-type': statusEvent['detail-type'] }).success).toBe(false)
})

test('a slice without a job before, and a job without an error text, travel as null and as nothing', () => {
  expect(messages.HeadOutput.parse({ head: null })).toEqual({ head: null })
  const bare = { ...fromCatch, job: null, failure: { Error: 'States.Timeout' } }
  expect(messages.HaltJobInput.parse(bare)).toEqual(bare)
})

describe('the source of a request', () => {
  test.each([[{ key: 'incoming/a' }], [{ staged: DIGEST }], [{ undo: true }]])('may be %j', (source) => {
    expect(messages.Source.parse(source)).toEqual(source)
  })

  test.each([
    [{}],
    [{ undo: false }],
    [{ staged: 'latest' }],
    [{ key: 'incoming/' }],
    [{ key: 'old/incoming/a' }],
    [{ key: `incoming/${'a'.repeat(901)}` }],
    [{ key: 'incoming/a\nb' }],
  ])('is never %j, and the refusal names the three forms', (source) => {
    expect(messages.Source.safeParse(source).error?.issues[0]?.message).toMatch(/source is one of|S3 key|SHA-256/)
  })

  test('of no known form is told which forms there are', () => {
    expect(messages.Source.safeParse({}).error?.message).toContain('source is one of')
    expect(messages.MonthRequest.safeParse({}).error?.message).toContain('the request is')
  })
})

/** Values at the edges of what a field may hold: the last that is taken, the first that is not. */
const EDGES: readonly (readonly [string, (value: never) => boolean, readonly unknown[], readonly unknown[]])[] = [
  [
    'a month',
    (value: unknown) => messages.Month.safeParse(value).success,
    ['2026-01', '2026-09', '2026-10', '2026-12', '2099-12'],
    ['2026-00', '2026-13', '2026-1', '1999-12', '12026-01', '2026-10-01', ' 2026-10'],
  ],
  [
    'a distributor code',
    (value: unknown) => messages.DistributorCode.safeParse(value).success,
    ['A', 'a-B_9', 'A'.repeat(32)],
    ['', 'A'.repeat(33), 'A B', 'AR/IA', '가'],
  ],
  [
    'a digest',
    (staged: unknown) => messages.Source.safeParse({ staged }).success,
    [DIGEST],
    [DIGEST.slice(1), `${DIGEST}0`, DIGEST.toUpperCase(), `g${DIGEST.slice(1)}`],
  ],
  [
    'a sum of shares',
    (shareSum: unknown) => Manifest.safeParse({ ...manifest, shareSum }).success,
    ['0.000001', '80000000.000000'],
    ['25', '25.0', '25.0000000', '.000001', '-1.000000', '1e6', '2x.000000'],
  ],
  [
    'a number of rows',
    (rows: unknown) => Manifest.safeParse({ ...manifest, rows }).success,
    [1, 30_000_000],
    [0, -1, 1.5, '1'],
  ],
  [
    'a number of tracks and parties',
    (count: unknown) => Manifest.safeParse({ ...manifest, tracks: count, parties: count }).success,
    [1, 2],
    [0],
  ],
  ['the chunks of a manifest', (chunks: unknown) => Manifest.safeParse({ ...manifest, chunks }).success, [], [[]]],
  [
    'the rows and bytes of a chunk',
    (size: unknown) =>
      Manifest.safeParse({ ...manifest, chunks: [{ ...manifest.chunks[0], rows: size, bytes: size }] }).success,
    [1, 10_000],
    [0],
  ],
  [
    'the chunks of a staged source',
    (chunks: unknown) =>
      messages.OpenJobInput.safeParse({
        ...{ request: full, execution, life, slice, lock, head, own: null },
        staged: { ...staged, chunks },
      }).success,
    [1, 3_000],
    [0],
  ],
  [
    'a token',
    (token: unknown) => messages.ReleaseLockInput.safeParse({ slice, lock: { token, held: true } }).success,
    ['t', 't'.repeat(128)],
    ['', 't'.repeat(129)],
  ],
  [
    "a distributor's id",
    (distributorId: unknown) => messages.ReadHeadInput.safeParse({ slice: { ...slice, distributorId } }).success,
    [1, 2],
    [0, 1.5],
  ],
  [
    'an item',
    (from: unknown) => messages.ChunkInput.safeParse({ ...guarded, item: { from, to: from } }).success,
    [0, 1, 10_000],
    [-1],
  ],
  [
    'the months back',
    (monthsBack: unknown) => messages.PlanMonthInput.safeParse({ request: { month: '2026-10' }, monthsBack }).success,
    [0, 1, 12],
    [-1, 13],
  ],
  [
    'a scheduled time',
    (scheduledAt: unknown) => messages.MonthRequest.safeParse({ scheduledAt }).success,
    ['2026-11-09T17:00:00Z', '2026-11-10T02:00:00+09:00'],
    ['2026-11-09', '2026-11-09T17:00:00'],
  ],
  [
    'the day of the month',
    (registeredByDay: unknown) => messages.SweepInput.safeParse({ registeredByDay, monthsBack: 1 }).success,
    [1, 2, 31],
    [0, 32],
  ],
  [
    'the name of who asks',
    (requestedBy: unknown) => messages.ExecutionInput.safeParse({ ...request, requestedBy }).success,
    ['', 'x'.repeat(2_048)],
    ['x'.repeat(2_049)],
  ],
  [
    "an execution's name",
    (name: unknown) => messages.StageSourceInput.safeParse({ request, execution: name }).success,
    ['x', 'x'.repeat(512)],
    ['', 'x'.repeat(513), 'a b', 'run-재실행', '재실행-1', 'run\n'],
  ],
]

test.each(EDGES)('%s is taken up to its bounds and refused beyond', (_, takes, good, bad) => {
  expect(good.filter((value) => !takes(value as never))).toEqual([])
  expect(bad.filter((value) => takes(value as never))).toEqual([])
})
