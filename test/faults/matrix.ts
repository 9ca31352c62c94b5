import type { Fault } from './fault.ts'
import { EXECUTION_FAULTS } from './kinds/execution.ts'
import { LAMBDA_FAULTS } from './kinds/lambda.ts'
import { MYSQL_FAULTS } from './kinds/mysql.ts'
import { RIVAL_FAULTS } from './kinds/rival.ts'
import { STORAGE_FAULTS } from './kinds/storage.ts'
import { VALKEY_FAULTS } from './kinds/valkey.ts'
import { MOMENTS, type Moment } from './moments.ts'

export const FAULTS: readonly Fault[] = [
  ...LAMBDA_FAULTS,
  ...VALKEY_FAULTS,
  ...MYSQL_FAULTS,
  ...RIVAL_FAULTS,
  ...STORAGE_FAULTS,
  ...EXECUTION_FAULTS,
]

export type Combination = { readonly fault: Fault; readonly moment: Moment }

/** Every fault at every moment that it suits. */
export const combinations = (only: { fault?: string; moment?: string } = {}): Combination[] =>
  FAULTS.flatMap((fault) => MOMENTS.filter(fault.suits).map((moment) => ({ fault, moment }))).filter(
    ({ fault, moment }) =>
      (only.fault === undefined || fault.id === only.fault) && (only.moment === undefined || moment.id === only.moment),
  )
