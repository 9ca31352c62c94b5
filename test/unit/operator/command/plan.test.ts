import { describe, expect, test } from 'vitest'
import { executionNameOf } from '../../../../functions/contract/execution.ts'
import { ExecutionInput } from '../../../../functions/contract/messages.ts'
import type { JobReport } from '../../../../functions/contract/reports.ts'
import { confirmationOf, requireConfirmation } from '../../../../operator/operations/confirmation.ts'
import { CHANGED_SHARE_MAX, ROWS_SHARE_MIN, RUN_NUMBERS_MAX } from '../../../../operator/operations/limits.ts'
import { isLarge, isSameSource, openJobOf, uploadKeyOf } from '../../../../operator/operations/plan.ts'
import { executionArnOf } from '../../../../operator/operations/runs.ts'
import { executionName } from '../../../../operator/operations/start.ts'
import type { StartPlan } from '../../../../operator/operations/start-plan.ts'
import { sliceReportOf } from '../../../support/slice-report.ts'

const SLICE = { distributor: 'ARIA', month: '2026-10' }
const DIGEST = 'ab'.repeat(32)

const job = (number: number, change: Partial<JobReport> = {}): JobReport => ({
  job: number,
  state: 'REGISTERED',
  status: 'settled',
  fence: number,
  execution: `arn:aws:states:r:1:execution:M:run-${number}`,
  requestedBy: 'kim',
  isUndo: false,
  slot: 0,
  waitsFor: null,
  source: { digest: String(number).repeat(64), rows: 10, shareSum: '100.000000' },
  at: { created: '', opened: '', deleted: null, registering: null, registered: null, withdrawn: null, closed: null },
  halt: null,
  delete: { chunks: 0, marked: 0, rows: 0, rowsMarked: 0, lastMarkedAt: null, map: '' },
  register: { chunks: 0, marked: 0, rows: 0, rowsMarked: 0, lastMarkedAt: null, map: '' },
  ...change,
})
const halted = (number: number, change: Partial<JobReport> = {}): JobReport =>
  job(number, { state: 'DELETING', status: 'halted', ...change })

describe('names', () => {
  test("an execution's name is the same for the same source and number, and another for any other", () => {
    expect(executionName(SLICE, DIGEST, 1)).toBe('ARIA-2026-10-abababababababab-1')
    const others = [
      executionName(SLICE, DIGEST, 2),
      executionName(SLICE, 'cd'.repeat(32), 1),
      executionName({ ...SLICE, month: '2026-11' }, DIGEST, 1),
    ]
    expect(new Set([executionName(SLICE, DIGEST, 1), ...others]).size).toBe(4)
  })

  test('the longest name is one that Step Functions takes', () => {
    const name = executionName({ distributor: 'A_'.repeat(16), month: '2026-10' }, DIGEST, RUN_NUMBERS_MAX)
    expect(name).toMatch(/^[0-9A-Za-z_-]{1,80}$/)
  })

  test("an execution's ARN and name lead to each other", () => {
    const arn = executionArnOf('arn:aws:states:ap-northeast-2:1:stateMachine:Job', 'ARIA-1')
    expect(arn).toBe('arn:aws:states:ap-northeast-2:1:execution:Job:ARIA-1')
    expect(executionNameOf(arn)).toBe('ARIA-1')
  })

  test('an uploaded file is a source, and none that the schedule takes: it lists incoming/<CODE>/<month>.csv', () => {
    for (const distributor of ['ARIA', 'operators', 'o']) {
      const key = uploadKeyOf({ distributor, month: '2026-10' }, DIGEST)
      expect(ExecutionInput.safeParse({ ...SLICE, source: { key } }).success).toBe(true)
      for (const code of ['ARIA', 'operators', 'o']) expect(key.startsWith(`incoming/${code}/2026-10.csv`)).toBe(false)
    }
  })
})

describe('a large change', () => {
  const difference = (removed: number, changed: number, rows = 1_000) => ({
    ...{ against: { job: 1, digest: DIGEST, rows }, added: 0, removed, changed, unchanged: 0, problem: null },
  })

  test.each([
    ['exactly the share that may change', difference(50, 50), 1_000, false],
    ['one row more', difference(50, 51), 1_000, true],
    ['rows added only', { ...difference(0, 0), added: 5_000 }, 6_000, false],
    ['exactly the rows that must be left', difference(0, 0), 900, false],
    ['one row fewer', difference(0, 0), 899, true],
  ])('%s', (_, changed, rowsNew, large) => {
    expect([CHANGED_SHARE_MAX, ROWS_SHARE_MIN]).toEqual([0.1, 0.9])
    expect(isLarge(changed, 1_000, rowsNew)).toBe(large)
  })

  test('rows that no job registered make any start a large one; an empty slice does not', () => {
    const nothing = { against: null, added: 10, removed: 0, changed: 0, unchanged: 0, problem: null }
    expect(isLarge(nothing, 5, 10)).toBe(true)
    expect(isLarge(nothing, 0, 10)).toBe(false)
    expect(isLarge({ ...difference(0, 0), problem: 'its copy is lost' }, 1_000, 1_000)).toBe(true)
  })
})

describe('a confirmation', () => {
  const plan = { ...SLICE, confirmation: null, behind: [] as readonly string[] } as StartPlan

  test('is needed for a large change, and for supersede, force and waiting behind another run always', () => {
    expect(confirmationOf(plan, {})).toBeNull()
    expect(confirmationOf({ ...plan, confirmation: 'ARIA 2026-10' }, {})).toBe('ARIA 2026-10')
    expect(confirmationOf(plan, { supersede: true })).toBe('ARIA 2026-10')
    expect(confirmationOf(plan, { force: true })).toBe('ARIA 2026-10')
    expect(confirmationOf(plan, { wait: true })).toBeNull()
    expect(confirmationOf({ ...plan, behind: ['arn:other'] }, { wait: true })).toBe('ARIA 2026-10')
  })

  test('has to be typed to the letter', () => {
    expect(() => requireConfirmation('ARIA 2026-10', undefined)).toThrow(/^A confirmation is needed/)
    expect(() => requireConfirmation('ARIA 2026-10', 'aria 2026-10')).toThrow(/"aria 2026-10" does not match/)
    expect(requireConfirmation('ARIA 2026-10', 'ARIA 2026-10')).toBeUndefined()
    expect(requireConfirmation(null, undefined)).toBeUndefined()
  })
})

describe('the jobs of a slice', () => {
  test('only the newest can be open', () => {
    expect(openJobOf(sliceReportOf(halted(2), job(1)))?.job).toBe(2)
    expect(openJobOf(sliceReportOf(job(2), halted(1, { status: 'closed' })))).toBeNull()
    expect(openJobOf(sliceReportOf())).toBeNull()
  })

  test('a run is of the same source by its job, or before it has one by its input', () => {
    const plan = { uploadKey: 'incoming/operators/a', isUndo: false }
    const run = (source: object, number = 9, digest?: string) => ({
      ...{ executionArn: job(number).execution, name: '', status: 'RUNNING' as const, startedAt: undefined },
      ...{ error: undefined, cause: undefined, output: undefined },
      input: ExecutionInput.parse({ ...SLICE, source, ...(digest === undefined ? {} : { expect: { digest } }) }),
    })
    const jobs = sliceReportOf(job(1))
    expect(isSameSource(run({ key: 'incoming/x' }, 1), plan, '1'.repeat(64), jobs)).toBe(true)
    expect(isSameSource(run({ key: 'incoming/operators/a' }, 1), plan, '2'.repeat(64), jobs)).toBe(false)
    expect(isSameSource(run({ key: 'incoming/operators/a' }), plan, DIGEST, jobs)).toBe(true)
    expect(isSameSource(run({ staged: DIGEST }), plan, DIGEST, jobs)).toBe(true)
    expect(isSameSource(run({ key: 'incoming/x' }), plan, DIGEST, jobs)).toBe(false)
    expect(isSameSource(run({ key: 'incoming/x' }, 9, DIGEST), plan, DIGEST, jobs)).toBe(true)
    expect(isSameSource(run({ key: 'incoming/operators/a' }, 9, 'cd'.repeat(32)), plan, DIGEST, jobs)).toBe(false)
    expect(isSameSource(run({ undo: true }), plan, DIGEST, jobs)).toBe(false)
    expect(isSameSource(run({ undo: true }), { ...plan, isUndo: true }, DIGEST, jobs)).toBe(true)
  })
})
