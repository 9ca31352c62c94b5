import type { IMetric } from 'aws-cdk-lib/aws-cloudwatch'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import type { AwsStage } from '../config/config.ts'
import type { Deployed } from '../data/stores.ts'

/** What the alarms look at, besides the handlers' own metrics. */
export type Watched = {
  readonly config: AwsStage
  readonly deployed: Deployed
  readonly jobMachine: IStateMachine
  readonly dispatchMachine: IStateMachine
  readonly scheduleDeadLetters: IQueue
  readonly haltDeadLetters: IQueue
  readonly sweepFailures: IQueue
}

/** One alarm. Its name is also its heading in docs/runbook.md. */
export type AlarmSpec = {
  readonly name: string
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
