import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { Manifest } from '../../../functions/contract/manifest.ts'
import * as messages from '../../../functions/contract/messages.ts'
import * as monthMessages from '../../../functions/contract/month-messages.ts'
import {
  DIGEST,
  detail,
  execution,
  fromCatch,
  full,
  guarded,
  head,
  job,
  life,
  lock,
  manifest,
  month,
  slice,
  staged,
  statusEvent,
} from './messages.ts'

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
  ['PlanMonthInput, of a month', monthMessages.PlanMonthInput, { request: { month: '2026-10' }, monthsBack: 1 }],
  [
    'PlanMonthInput, of the schedule',
    monthMessages.PlanMonthInput,
    { request: { scheduledAt: '2026-11-09T17:00:00Z' }, monthsBack: 1 },
  ],
  ['PlanMonthOutput', monthMessages.PlanMonthOutput, month],
  ['SweepInput', monthMessages.SweepInput, { registeredByDay: 12, monthsBack: 1 }],
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
    expect(monthMessages.MonthRequest.safeParse({}).error?.message).toContain('the request is')
  })
})
