import { BEGINNINGS, type Beginning } from './matrix/beginning.ts'
import type { Combination } from './matrix/combination.ts'
import type { Fault } from './matrix/fault.ts'
import { CLOCK_FAULTS } from './matrix/kinds/clock.ts'
import { EXECUTION_FAULTS } from './matrix/kinds/execution.ts'
import { FAILOVER_FAULTS } from './matrix/kinds/failover.ts'
import { FULL_FAULTS } from './matrix/kinds/full.ts'
import { LAMBDA_FAULTS } from './matrix/kinds/lambda.ts'
import { MYSQL_FAULTS } from './matrix/kinds/mysql.ts'
import { OPERATOR_FAULTS } from './matrix/kinds/operator.ts'
import { RESTORED_FAULTS } from './matrix/kinds/restored.ts'
import { RIVAL_FAULTS } from './matrix/kinds/rival.ts'
import { SLOW_FAULTS } from './matrix/kinds/slow.ts'
import { STATUS_EVENT_FAULTS } from './matrix/kinds/status-event.ts'
import { STORAGE_FAULTS } from './matrix/kinds/storage.ts'
import { VALKEY_FAULTS } from './matrix/kinds/valkey.ts'
import { MOMENTS, type Moment } from './matrix/moments.ts'

export const FAULTS: readonly Fault[] = [
  ...LAMBDA_FAULTS,
  ...VALKEY_FAULTS,
  ...FAILOVER_FAULTS,
  // Those that take a minute each come before many short ones, so that labs side by side end together.
  ...SLOW_FAULTS,
  ...MYSQL_FAULTS,
  ...FULL_FAULTS,
  ...RESTORED_FAULTS,
  ...RIVAL_FAULTS,
  ...STORAGE_FAULTS,
  ...EXECUTION_FAULTS,
  ...STATUS_EVENT_FAULTS,
  ...CLOCK_FAULTS,
  ...OPERATOR_FAULTS,
]

type Only = {
  readonly fault?: string | undefined
  readonly moment?: string | undefined
  readonly beginning?: Beginning | undefined
}

/** The beginnings take turns over the moments, by another first one for each fault; a further try takes the next. */
const beginningOf = (fault: Fault, moment: Moment, number: number): Beginning => {
  if (moment.needs === 'undo') return 'standby'
  const place = FAULTS.indexOf(fault) + MOMENTS.indexOf(moment) + number
  const { beginnings = BEGINNINGS } = fault
  return beginnings[place % beginnings.length] ?? 'standby'
}

/** Every fault at every moment that it suits, so many times. */
export const combinations = (only: Only = {}, tries = 1): Combination[] =>
  FAULTS.flatMap((fault) =>
    MOMENTS.filter(fault.suits).flatMap((moment) =>
      Array.from({ length: tries }, (_, number) => ({ fault, moment, beginning: beginningOf(fault, moment, number) })),
    ),
  )
    .filter(({ fault }) => only.fault === undefined || fault.id === only.fault)
    .filter(({ moment }) => only.moment === undefined || moment.id === only.moment)
    .map((one) => (only.beginning === undefined ? one : { ...one, beginning: only.beginning }))
