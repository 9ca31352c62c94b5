import type { Fault } from './matrix/fault.ts'
import { CLOCK_FAULTS } from './matrix/kinds/clock.ts'
import { EXECUTION_FAULTS } from './matrix/kinds/execution.ts'
import { FAILOVER_FAULTS } from './matrix/kinds/failover.ts'
import { FULL_FAULTS } from './matrix/kinds/full.ts'
import { LAMBDA_FAULTS } from './matrix/kinds/lambda.ts'
import { MYSQL_FAULTS } from './matrix/kinds/mysql.ts'
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
]

export type Combination = { readonly fault: Fault; readonly moment: Moment }

/** Every fault at every moment that it suits. */
export const combinations = (only: { fault?: string | undefined; moment?: string | undefined } = {}): Combination[] =>
  FAULTS.flatMap((fault) => MOMENTS.filter(fault.suits).map((moment) => ({ fault, moment }))).filter(
    ({ fault, moment }) =>
      (only.fault === undefined || fault.id === only.fault) && (only.moment === undefined || moment.id === only.moment),
  )
