import { describe, expect, test } from 'vitest'
import { dispatchedName, dispatchedRun } from '../../../functions/contract/dispatched.ts'
import { EXECUTION_NAME_CHARS_MAX, HISTORY_EVENTS_MAX, PAYLOAD_BYTES_MAX } from '../../../functions/contract/limits.ts'
import type { PlanMonthOutput } from '../../../functions/contract/month-messages.ts'
import { DISPATCH_TRIES_MAX, DISTRIBUTORS_MAX, REASON_CHARS_MAX } from '../../../functions/contract/support-limits.ts'

const PLAN: PlanMonthOutput = {
  month: '2026-10',
  starts: ['ARIA', 'BALLAD', 'CANTATA'].map((distributor) => ({
    distributor,
    ending: 'csv' as const,
    run: 'scheduled-0123456789ab',
    head: null,
  })),
  already: [],
  left: [],
  leftCount: 0,
  warned: [],
  warnedCount: 0,
  missing: [],
  missingCount: 0,
}

const SCHEDULED = { scheduledAt: '2026-11-09T17:00:00Z' }

describe('the largest month', () => {
  test('stays below the limits of history and payload', () => {
    const code = 'D'.repeat(32)
    const head = { job: 12_345_678, fence: 12_345, state: 'REGISTERING' as const }
    const start = {
      distributor: code,
      ending: 'parts.json',
      run: dispatchedRun('0123456789ab', head, DISPATCH_TRIES_MAX),
      head,
    }
    expect(dispatchedName(code, PLAN.month, start.run).length).toBeLessThanOrEqual(EXECUTION_NAME_CHARS_MAX)
    const state = {
      ...SCHEDULED,
      month: { ...PLAN, starts: Array(DISTRIBUTORS_MAX).fill(start), missingCount: 0 },
      outcomes: Array(DISTRIBUTORS_MAX).fill('ended without success'),
    }
    expect(JSON.stringify(state).length).toBeLessThan(0.8 * PAYLOAD_BYTES_MAX)
    const reason = 'r'.repeat(REASON_CHARS_MAX)
    const left = Array(DISTRIBUTORS_MAX).fill({ distributor: code, reason })
    const untouched = { ...SCHEDULED, month: { ...PLAN, starts: [], left, leftCount: left.length }, outcomes: [] }
    expect(JSON.stringify(untouched).length).toBeLessThan(0.8 * PAYLOAD_BYTES_MAX)
    // StartJob 6 and its look at the end 2, Pass 2, the iteration 2; and as many retries as one start in ten may need:
    // 3 events each.
    expect(DISTRIBUTORS_MAX * (12 + 3)).toBeLessThan(0.8 * HISTORY_EVENTS_MAX)
  })
})
