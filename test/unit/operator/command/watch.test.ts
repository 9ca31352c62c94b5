import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { JobReport, PhaseReport, SliceReport } from '../../../../functions/contract/reports.ts'
import { exitCodeOf } from '../../../../operator/command/end-text.ts'
import { progressText } from '../../../../operator/format/progress-text.ts'
import type { Clients } from '../../../../operator/operations/clients.ts'
import { operationError } from '../../../../operator/operations/failures.ts'
import { lookAt } from '../../../../operator/operations/look.ts'
import { OperationError } from '../../../../operator/operations/operation-error.ts'
import type { Progress } from '../../../../operator/operations/progress.ts'
import { Speeds } from '../../../../operator/operations/speed.ts'
import { watchRun } from '../../../../operator/operations/watch.ts'

/* Looks at a run whose services answer as the test says. */
const ARN = 'arn:aws:states:r:1:execution:M:run-1'
const SLICE = { distributor: 'ARIA', month: '2026-10' }
const INPUT = JSON.stringify({ ...SLICE, source: { key: 'incoming/a' } })

import { sliceReportOf } from '../../../support/slice-report.ts'

const phase = (rowsMarked: number): PhaseReport => ({
  chunks: 4,
  marked: 0,
  rows: 1_000,
  rowsMarked,
  lastMarkedAt: null,
  map: '....',
})
const jobOf = (rowsMarked: number): JobReport => ({
  ...{
    job: 7,
    state: 'REGISTERING',
    status: 'being replaced',
    fence: 2,
    execution: ARN,
    requestedBy: 'kim',
    isUndo: false,
    slot: 0,
    waitsFor: null,
  },
  source: { digest: 'a'.repeat(64), rows: 1_000, shareSum: '1.000000' },
  at: { created: '', opened: '', deleted: null, registering: null, registered: null, withdrawn: null, closed: null },
  halt: null,
  delete: phase(1_000),
  register: phase(rowsMarked),
})

type Answer =
  | { readonly status?: string; readonly output?: object; readonly error?: string; readonly cause?: string }
  | Error

/** Each look takes the next answer of Step Functions and the next report; the last ones last. */
const clientsOf = (answers: Answer[], reports: (SliceReport | Error)[]): Clients => {
  const next = <T>(list: T[]): T => (list.length > 1 ? list.shift() : list[0]) as T
  const send = async (command: object) => {
    if (command.constructor.name === 'GetExecutionHistoryCommand')
      return { events: [{ type: 'TaskScheduled' }, { stateEnteredEventDetails: { name: 'RegisterChunk' } }] }
    const answer = next(answers)
    if (answer instanceof Error) throw answer
    return { status: 'RUNNING', name: 'run-1', input: INPUT, ...answer, output: JSON.stringify(answer.output) }
  }
  const inspect = async () => {
    const report = next(reports)
    if (report instanceof Error) throw report
    return report
  }
  return { sfn: { send }, inspect } as unknown as Clients
}

const outage = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

const look = (clients: Clients): Promise<Progress> => lookAt(clients, ARN, new Speeds())

const all = async (clients: Clients, signal?: AbortSignal): Promise<Progress[]> => {
  const seen: Progress[] = []
  for await (const progress of watchRun(clients, ARN, new Speeds(), 1, signal)) seen.push(progress)
  return seen
}

describe('a look', () => {
  test('names the Map for a task inside it, and tells the speed of the looks so far', async () => {
    const clients = clientsOf([{}], [sliceReportOf(jobOf(100)), sliceReportOf(jobOf(300))])
    const speeds = new Speeds()
    const first = await lookAt(clients, ARN, speeds)
    expect(first).toMatchObject({ ...SLICE, at: 'RegisterChunks', rowsPerS: null, secondsLeft: null })
    await sleep(20)
    const second = await lookAt(clients, ARN, speeds, first)
    // 200 rows in at least 20 ms, 700 are left.
    expect(second.rowsPerS).toBeGreaterThan(0)
    expect(second.rowsPerS).toBeLessThanOrEqual(12_000)
    expect(second.secondsLeft).toBeGreaterThanOrEqual(1)
  })

  test('is made without the job where Inspect does not answer, and says so', async () => {
    const clients = clientsOf([{}], [sliceReportOf(jobOf(100)), new OperationError('Unreachable', 'MySQL is away')])
    const first = await look(clients)
    const progress = await lookAt(clients, ARN, new Speeds(), first)
    expect(progress).toMatchObject({ status: 'RUNNING', job: { job: 7 }, trouble: 'MySQL is away' })
    expect(progressText(progress)).toMatch(/ {2}\(MySQL is away\) {2}.*10 % {2}100 of 1,000 rows$/)
  })

  test("shows a job only while it is this execution's own", async () => {
    const taken = { ...jobOf(100), execution: 'arn:aws:states:r:1:execution:M:run-2' }
    expect((await look(clientsOf([{}], [sliceReportOf(taken)]))).job).toBeNull()
  })

  test('makes a sentence of a failure, with a remedy and an exit code', async () => {
    const cause = JSON.stringify({ errorType: 'ChunkMismatch', errorMessage: 'Chunk 3 has 9 rows.' })
    const failed = clientsOf(
      [{ status: 'FAILED', error: 'ChunkMismatch', cause }],
      [sliceReportOf({ ...jobOf(0), status: 'halted' })],
    )
    const progress = await look(failed)
    expect(progress.failure).toMatchObject({
      error: 'ChunkMismatch',
      cause: 'Chunk 3 has 9 rows.',
      remedy: expect.stringContaining('--supersede --force'),
    })
    expect(exitCodeOf(progress)).toBe(5)
    const stopped = await look(clientsOf([{ status: 'ABORTED' }], [sliceReportOf()]))
    expect(stopped.failure).toMatchObject({
      error: 'ExecutionABORTED',
      cause: expect.stringContaining('gave no reason'),
    })
    const held = await look(clientsOf([{ status: 'FAILED', error: 'LockHeld', cause: 'held' }], [sliceReportOf()]))
    expect(exitCodeOf(held)).toBe(4)
  })

  test.each([
    [
      { job: { id: 7, state: 'REGISTERED', outcome: 'opened' }, staged: { rows: 1_000 } },
      'registered 1,000 rows as job 7',
    ],
    [
      { job: { id: 6, state: 'REGISTERED', outcome: 'already registered' } },
      'changed nothing: job 6 had registered exactly this source before',
    ],
    [
      {
        job: { id: 7, state: 'REGISTERED', outcome: 'opened' },
        staged: { rows: 1 },
        release: { failure: {} },
        publish: { failure: {} },
      },
      'registered 1 row as job 7; the lock was not released and expires by itself; its event is not published yet; the sweeper does it',
    ],
    [{}, 'ended in an unknown state: look at job ?'],
  ])('of the success %j says %s', async (output, result) => {
    expect((await look(clientsOf([{ status: 'SUCCEEDED', output }], [sliceReportOf()]))).result).toBe(result)
  })
})

describe('watching', () => {
  test('repeats a look that failed, says so, and goes on to the end', async () => {
    const clients = clientsOf([{}, outage, outage, { status: 'SUCCEEDED', output: {} }], [sliceReportOf(jobOf(100))])
    const seen = await all(clients)
    expect(seen.map(({ status, trouble }) => [status, trouble])).toEqual([
      ['RUNNING', null],
      ['RUNNING', expect.stringMatching(/^Step Functions cannot be reached/)],
      ['RUNNING', expect.stringMatching(/^Step Functions cannot be reached/)],
      ['SUCCEEDED', null],
    ])
  })

  test('gives up at once where the caller is refused', async () => {
    const refused = Object.assign(new Error('The security token has expired'), { name: 'ExpiredTokenException' })
    await expect(all(clientsOf([{}, refused], [sliceReportOf()]))).rejects.toMatchObject({
      name: 'Unreachable',
      message: expect.stringMatching(/refuses you/),
    })
  })

  test('ends where the watcher leaves, without an end of the run', async () => {
    const leaving = new AbortController()
    const clients = clientsOf([{}], [sliceReportOf()])
    const seen: Progress[] = []
    for await (const progress of watchRun(clients, ARN, new Speeds(), 1, leaving.signal)) {
      seen.push(progress)
      if (seen.length === 3) leaving.abort()
    }
    expect(seen).toHaveLength(3)
    expect(seen.at(-1)?.status).toBe('RUNNING')
  })
})

describe('an error of AWS', () => {
  const error = (name: string, message: string, more: object = {}) =>
    Object.assign(new Error(message), { name, ...more })

  test.each([
    [error('AccessDeniedException', 'no'), 'Unreachable', /refuses you/],
    [error('CredentialsProviderError', 'Could not load credentials'), 'Unreachable', /Sign in again/],
    [error('Error', '', { code: 'ECONNREFUSED' }), 'Unreachable', /cannot be reached: ECONNREFUSED/],
    [
      error('ServiceException', 'later', { $metadata: { httpStatusCode: 503 } }),
      'Unreachable',
      /cannot be reached: later/,
    ],
    [error('ThrottlingException', 'slow', { $metadata: { httpStatusCode: 400 } }), 'Unreachable', /cannot be reached/],
    [error('Error', 'Region is missing'), 'Usage', /AWS_REGION/],
    [error('ValidationException', 'bad'), 'Failed', /^S3: ValidationException: bad$/],
  ])('%s becomes %s', (thrown, name, message) => {
    const made = operationError(thrown, 'S3')
    expect(made.name).toBe(name)
    expect(made.message).toMatch(message)
  })
})
