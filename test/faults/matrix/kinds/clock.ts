import type { Fault, Trial } from '../fault.ts'
import { expectEnd } from './execution.ts'

/*
 * The clock of the functions jumps in the middle of a run, so that sandboxes which work side by side, and MySQL and Valkey
 * with them, disagree about the time.
 */

const HOUR_MS = 3_600_000

const MOMENTS = ['stage-source', 'open-job', 'register-chunk', 'halt-job']
const STOPPED = ['delete-chunk', 'register-chunk']

const jump = (trial: Trial, ms: number): Promise<void> => trial.lab.shiftClock(ms)

const off = (id: string, words: string, ms: number): Fault => ({
  id: `clock-${id}`,
  title: `The clock of every new sandbox an hour ${words}, in the middle of the run`,
  suits: (moment) => MOMENTS.includes(moment.id),
  strike: (trial) => jump(trial, ms),
  heal: (trial) => jump(trial, 0),
})

/** The status event carries times of a clock that is right. */
const stopped = (id: string, words: string, ms: number): Fault => ({
  id: `clock-${id}-stopped`,
  title: `The clock of every new sandbox an hour ${words}, and the execution stopped`,
  suits: (moment) => STOPPED.includes(moment.id),
  strike: async (trial) => {
    await jump(trial, ms)
    await trial.on.stop(trial.arn)
  },
  heal: async (trial, end) => {
    await expectEnd(trial, end, 'ABORTED')
    await jump(trial, 0)
  },
})

export const CLOCK_FAULTS: readonly Fault[] = [
  off('ahead', 'ahead', HOUR_MS),
  off('behind', 'behind', -HOUR_MS),
  stopped('ahead', 'ahead', HOUR_MS),
  stopped('behind', 'behind', -HOUR_MS),
]
