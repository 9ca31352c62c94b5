import { beforeAll, expect, test } from 'vitest'
import { planItems } from '../../../functions/contract/chunks.ts'
import {
  CHUNK_ROWS_MAX,
  DELETE_PLANS_MAX,
  HISTORY_EVENTS_MAX,
  PAYLOAD_BYTES_MAX,
  SLICE_ROWS_PLANNED,
  TRACK_ROWS_MAX,
} from '../../../functions/contract/limits.ts'
import { type Definition, definitionOf, jobTemplate } from '../synth.ts'
import { execute, fail, failing, type Json, REQUEST, type Run } from './engine.ts'

/*
 * AWS ends an execution at 25,000 history events, and fails a transition whose payload exceeds 256 KiB. The local engine
 * knows neither, so both are computed here, for three times the largest planned slice, below 80 % of each limit.
 */
const EVENTS_BUDGET = 20_000
const PAYLOAD_BUDGET = 200_000

/**
 * Events of one state without retries (Step Functions API, HistoryEvent types; a retry adds Scheduled, Started and
 * Failed of its attempt, three events):
 * Task: TaskStateEntered, LambdaFunctionScheduled, -Started, -Succeeded, TaskStateExited.
 * Pass, Choice, Succeed: Entered, Exited.
 * Map: MapStateEntered, -Started, -Succeeded, -Exited, and per item MapIterationStarted and -Succeeded besides its task's.
 */
const EVENTS: Readonly<Record<string, number>> = { Task: 5, Pass: 2, Choice: 2, Succeed: 2, Map: 4 }
const EVENTS_PER_ITEM = 2 + 5
const EXECUTION_EVENTS = 2

/** A chunk ends before a track that does not fit any more, so it may be emptier than its maximum by one track. */
const CHUNKS = Math.ceil((3 * SLICE_ROWS_PLANNED) / (CHUNK_ROWS_MAX - TRACK_ROWS_MAX))
const PLAN = { chunks: CHUNKS, items: planItems(Array.from({ length: CHUNKS }, (_, number) => number)) }

/** A request as long as its contract allows, and a Cause as long as Step Functions keeps one. */
const LONGEST = { ...REQUEST, source: { key: `incoming/${'k'.repeat(900)}` }, requestedBy: 'r'.repeat(200) }
const CAUSE_CHARS = 32_768

let definition: Definition
beforeAll(() => {
  definition = definitionOf(jobTemplate())
}, 60_000)

const eventsOf = (run: Run): number => {
  const items = run.calls.filter(({ task }) => task === 'DeleteChunk' || task === 'RegisterChunk').length
  const states = run.inputs.map(({ type }) => EVENTS[type] ?? expect.fail(`no event count for a ${type} state`))
  return EXECUTION_EVENTS + items * EVENTS_PER_ITEM + states.reduce((sum, events) => sum + events, 0)
}

const bytesOf = (value: Json | undefined): number => Buffer.byteLength(JSON.stringify(value ?? null))
const payloadOf = (run: Run): number =>
  Math.max(
    bytesOf(run.output),
    ...run.inputs.map(({ input }) => bytesOf(input)),
    ...run.calls.map(({ input }) => bytesOf(input)),
  )

test('three times the largest slice stays below 20,000 events and 200 KB at every transition', async () => {
  const run = await execute(definition, { PlanDelete: () => PLAN, BeginRegistering: () => PLAN }, LONGEST)
  expect(run.path.at(-1)).toBe('Registered')
  expect(eventsOf(run)).toBeLessThan(EVENTS_BUDGET / 3)
  expect(payloadOf(run)).toBeLessThan(PAYLOAD_BUDGET / 10)
})

test('even with every plan of the delete as long as the first', async () => {
  const run = await execute(definition, {
    PlanDelete: () => PLAN,
    BeginRegistering: () => PLAN,
    ...failing('MarkDeleted', ...Array<string>(DELETE_PLANS_MAX - 1).fill('SliceNotEmpty')),
  })
  expect(run.path.at(-1)).toBe('Registered')
  expect(run.path.filter((state) => state === 'DeleteChunks')).toHaveLength(DELETE_PLANS_MAX)
  expect(eventsOf(run)).toBeLessThan(EVENTS_BUDGET)
})

test('even with the longest causes of failures in it', async () => {
  const long = (name: string) => () => {
    throw Object.assign(new Error('c'.repeat(CAUSE_CHARS)), { name })
  }
  let calls = 0
  const run = await execute(
    definition,
    {
      PlanDelete: () => PLAN,
      DeleteChunk: () => (calls++ === 0 ? long('LockLost')() : {}),
      MarkDeleted: long('SliceMismatch'),
      HaltJob: () => fail('DatabaseUnreachable'),
    },
    LONGEST,
  )
  expect(run.path.at(-1)).toBe('Halted')
  expect(payloadOf(run)).toBeLessThan(PAYLOAD_BUDGET)
})

test('the budgets are below the limits of AWS', () => {
  expect(EVENTS_BUDGET).toBeLessThanOrEqual(0.8 * HISTORY_EVENTS_MAX)
  expect(PAYLOAD_BUDGET).toBeLessThanOrEqual(0.8 * PAYLOAD_BYTES_MAX)
})
