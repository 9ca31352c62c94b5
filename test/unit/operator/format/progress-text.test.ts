import { expect, test } from 'vitest'
import { progressText } from '../../../../operator/format/progress-text.ts'
import type { Progress } from '../../../../operator/operations/progress.ts'

const phase = { chunks: 54, marked: 28, rows: 800_000, rowsMarked: 420_000 }
const LOOK = {
  ...{ distributor: 'ARIA', month: '2026-10', status: 'RUNNING', at: 'RegisterChunks' },
  job: { job: 1234, fence: 7, state: 'REGISTERING', delete: phase, register: phase },
  ...{ rowsPerS: 15_250, secondsLeft: 95, trouble: null },
} as unknown as Progress
const TROUBLE = 'The function sharelock-prod-Inspect cannot be reached: connect ETIMEDOUT 10.0.0.1:443. Try again.'

test.each([60, 80, 120])('at %i columns the slice, the percentage and the time left stay', (columns) => {
  const text = progressText(LOOK, columns)
  expect(text.length).toBeLessThanOrEqual(columns)
  expect(text).toMatch(/^ARIA 2026-10 .*52 %.* left$/)
})

test.each([60, 80, 120])(
  'at %i columns trouble is in front, cut where it must be, and both stay behind it',
  (columns) => {
    const text = progressText({ ...LOOK, trouble: TROUBLE }, columns)
    expect(text.length).toBeLessThanOrEqual(columns)
    expect(text).toMatch(/^ARIA 2026-10 {2}\(The function .*52 %.* left$/)
  },
)

test('without an end everything is said', () => {
  expect(progressText(LOOK)).toMatch(
    /^ARIA 2026-10 {2}RegisterChunks {2}job 1234, fence 7 {2}\[#+\.+\] {2}52 % {2}420,000 of 800,000 rows {2}15,250 rows\/s {2}.* left$/,
  )
})
