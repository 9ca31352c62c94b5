import { Duration, TimeZone } from 'aws-cdk-lib'
import { Rule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction as RuleTarget } from 'aws-cdk-lib/aws-events-targets'
import { Alias, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import {
  ContextAttribute,
  Schedule,
  ScheduleExpression,
  ScheduleTargetInput,
  TimeWindow,
} from 'aws-cdk-lib/aws-scheduler'
import { LambdaInvoke, StepFunctionsStartExecution } from 'aws-cdk-lib/aws-scheduler-targets'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import { Construct } from 'constructs'
import type { AwsStage } from './config.ts'

/** What EventBridge reports of an execution that did not succeed. */
export const ENDED_BADLY = ['FAILED', 'ABORTED', 'TIMED_OUT'] as const

/** The longest that SQS keeps a message: a lost trigger must survive a holiday. */
const DEAD_LETTER_DAYS = 14

export type HaltRuleProps = { readonly jobMachine: IStateMachine; readonly haltJob: LambdaFunction }

/**
 * Calls HaltJob for every execution that did not succeed. Most have halted their job themselves by then, and the call
 * changes nothing; one that was stopped, timed out or filled its history had no Catch to do it.
 */
export class HaltRule extends Construct {
  readonly deadLetters: Queue
  readonly rule: Rule

  constructor(scope: Construct, id: string, { jobMachine, haltJob }: HaltRuleProps) {
    super(scope, id)
    this.deadLetters = deadLetters(this)
    this.rule = new Rule(this, 'Rule', {
      description: 'Sharelock: executions that ended without success',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { stateMachineArn: [jobMachine.stateMachineArn], status: [...ENDED_BADLY] },
      },
      targets: [
        // An alias: nobody's execution depends on the code of a version here, and the newest is right.
        new RuleTarget(new Alias(this, 'HaltJobLive', { aliasName: 'live', version: haltJob.currentVersion }), {
          deadLetterQueue: this.deadLetters,
          retryAttempts: 20,
          maxEventAge: Duration.hours(6),
        }),
      ],
    })
  }
}

export type SchedulesProps = {
  readonly config: AwsStage
  readonly dispatchMachine: IStateMachine
  readonly sweep: LambdaFunction
}

/** The monthly dispatch, and the sweep every few minutes. */
export class Schedules extends Construct {
  readonly deadLetters: Queue
  readonly month: Schedule
  readonly sweep: Schedule

  constructor(scope: Construct, id: string, { config, dispatchMachine, sweep }: SchedulesProps) {
    super(scope, id)
    this.deadLetters = deadLetters(this)
    const { day, hour, enabled } = config.schedule
    this.month = new Schedule(this, 'Month', {
      description: 'Sharelock: registers the month of every active distributor',
      enabled,
      schedule: ScheduleExpression.cron({
        minute: '0',
        hour: String(hour),
        day: String(day),
        timeZone: TimeZone.ASIA_SEOUL,
      }),
      timeWindow: TimeWindow.off(),
      target: new StepFunctionsStartExecution(dispatchMachine, {
        // The scheduled time and not the delivery's: the month is derived from it, however late the delivery comes.
        input: ScheduleTargetInput.fromObject({ scheduledAt: ContextAttribute.scheduledTime }),
        deadLetterQueue: this.deadLetters,
        retryAttempts: 100,
        maxEventAge: Duration.hours(24),
      }),
    })
    this.sweep = new Schedule(this, 'Sweep', {
      description: 'Sharelock: halts abandoned jobs, publishes what is left in the outbox',
      schedule: ScheduleExpression.rate(Duration.minutes(config.sweepMinutes)),
      timeWindow: TimeWindow.off(),
      target: new LambdaInvoke(new Alias(this, 'SweepLive', { aliasName: 'live', version: sweep.currentVersion }), {
        input: ScheduleTargetInput.fromObject({ registeredByDay: config.alarms.registeredByDay }),
        deadLetterQueue: this.deadLetters,
        // The next sweep makes up for a lost one.
        retryAttempts: 2,
        maxEventAge: Duration.minutes(5),
      }),
    })
  }
}

const deadLetters = (scope: Construct): Queue =>
  new Queue(scope, 'DeadLetters', {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(DEAD_LETTER_DAYS),
  })
