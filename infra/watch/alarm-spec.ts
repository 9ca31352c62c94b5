import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import type { AwsStage } from '../config/config.ts'
import type { Deployed } from '../data/stores.ts'
import type { HaltRule, Schedules } from '../dispatch/triggers.ts'
import type { Functions } from '../functions/functions.ts'

/** What the alarms look at, besides the handlers' own metrics. */
export type Watched = {
  readonly config: AwsStage
  readonly deployed: Deployed
  readonly jobMachine: IStateMachine
  readonly dispatchMachine: IStateMachine
  readonly functions: Pick<Functions, 'all' | 'operators'>
  readonly haltRule: Pick<HaltRule, 'deadLetters' | 'rule' | 'live'>
  readonly schedules: Pick<Schedules, 'deadLetters' | 'sweepFailures' | 'live'>
}

/** One alarm. */
export type AlarmSpec = {
  readonly name: string
  /** Under which it is in docs/runbook.md, if not under its name. */
  readonly heading?: string
  /** It wakes somebody: the month, or what all runs need, does not go on without a person. All others wait for the morning. */
  readonly pages?: true
  /** A sentence for the one who is woken. */
  readonly meaning: string
  readonly metric: IMetric
  readonly threshold: number
  /** Periods in a row; one if absent. */
  readonly periods?: number
  readonly below?: true
  /** Silence is the fault. */
  readonly missingIsBad?: true
}

/** Of five minutes each. */
export const HALF_HOUR_PERIODS = 6
export const CPU_HIGH_PERCENT = 90
