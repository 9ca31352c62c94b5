import { expect, test } from 'vitest'
import type { JobReport } from '../../../../functions/contract/reports.ts'
import { NO_SPEED, Speeds } from '../../../../operator/operations/speed.ts'

const ARN = 'arn'
const job = (state: string, rowsMarked: number) =>
  ({ state, register: { rowsMarked, rows: 1_000 }, delete: { rowsMarked, rows: 400 } }) as unknown as JobReport

test('the speed is that of the last looks at a phase, and unknown at the first', () => {
  const speeds = new Speeds()
  expect(speeds.of(ARN, job('DELETING', 0), 0)).toEqual(NO_SPEED)
  expect(speeds.of(ARN, job('DELETING', 100), 2_000)).toEqual({ rowsPerS: 50, secondsLeft: 6 })
  expect(speeds.of(ARN, job('DELETING', 200), 4_000)).toEqual({ rowsPerS: 50, secondsLeft: 4 })
  expect(speeds.of(ARN, job('DELETING', 200), 6_000)).toEqual({ rowsPerS: 33, secondsLeft: 6 })
  expect(speeds.of(ARN, job('DELETING', 400), 8_000)).toEqual(NO_SPEED)
  expect(speeds.of(ARN, job('REGISTERING', 300), 9_000)).toEqual(NO_SPEED)
  expect(speeds.of(ARN, job('REGISTERING', 400), 10_000)).toEqual({ rowsPerS: 100, secondsLeft: 6 })
  expect(speeds.of(ARN, job('REGISTERED', 1_000), 11_000)).toEqual(NO_SPEED)
})

test('looks from long ago do not count where there are newer ones', () => {
  const speeds = new Speeds()
  speeds.of(ARN, job('REGISTERING', 0), 0)
  speeds.of(ARN, job('REGISTERING', 100), 10_000)
  expect(speeds.of(ARN, job('REGISTERING', 200), 20_000)).toEqual({ rowsPerS: 10, secondsLeft: 80 })
  expect(speeds.of(ARN, job('REGISTERING', 600), 30_000).rowsPerS).toBe(40)
})

test('looks that are further apart than the window tell the speed between them', () => {
  const speeds = new Speeds()
  speeds.of(ARN, job('REGISTERING', 100), 0)
  expect(speeds.of(ARN, job('REGISTERING', 400), 60_000)).toEqual({ rowsPerS: 5, secondsLeft: 120 })
})

test('two runs do not share their looks', () => {
  const speeds = new Speeds()
  speeds.of('one', job('REGISTERING', 0), 0)
  expect(speeds.of('two', job('REGISTERING', 100), 1_000)).toEqual(NO_SPEED)
})
