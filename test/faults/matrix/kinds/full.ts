import { type Fault, statementOf, type Trial } from '../fault.ts'
import type { Moment } from '../moments.ts'

/*
 * The database's disk is full. InnoDB answers 1114 where a table cannot grow and MySQL 1021 where a file of its own cannot,
 * and both undo the statement only. A relay answers in its place: a disk that is really full needs one of its own.
 */

const FULL = { errno: 1114, sqlState: 'HY000', message: "The table 'share_ratio' is full", rollback: false }
const NO_SPACE = {
  errno: 1021,
  sqlState: 'HY000',
  message: 'Disk full (/rdsdbdata/tmp/#sql); waiting for someone to free some space... (errno: 28)',
  rollback: false,
}

/** Statements that may need space. */
const GROWS = /^(insert|load|update|delete)/

const MOMENTS = [
  ...['open-job', 'plan-delete', 'delete-chunk-after-write', 'begin-registering', 'register-chunk'],
  ...['register-chunk-after-write', 'mark-registered', 'reuse-set'],
]

const suits = ({ id }: Moment): boolean => MOMENTS.includes(id)

/** Every statement of the task that needs space, from the one that was hit on. */
const refuse = (trial: Trial, error: typeof FULL, times: number): void => {
  const { task } = trial.moment
  trial.on.relay.arm({ task, sql: GROWS, moment: 'before', times, act: (at) => at.refuse(error) })
}

const forGood: Fault = {
  id: 'mysql-full',
  title: 'Disk full (1114) as the answer to every statement of the task that needs space, until the run has ended',
  suits,
  place: ({ place }) => ({ ...place, when: 'before' }),
  strike: (trial, at) => {
    statementOf(at).refuse(FULL)
    refuse(trial, FULL, 10_000)
  },
  heal: async ({ on }) => on.disarm(),
}

const AGAIN = 7

const aWhile: Fault = {
  id: 'mysql-full-a-while',
  title: `Disk full (1021) as the answer to ${1 + AGAIN} statements, then there is space again`,
  suits,
  place: ({ place }) => ({ ...place, when: 'before' }),
  strike: (trial, at) => {
    statementOf(at).refuse(NO_SPACE)
    refuse(trial, NO_SPACE, AGAIN)
  },
}

export const FULL_FAULTS: readonly Fault[] = [forGood, aWhile]
