import { Duration, TimeZone } from 'aws-cdk-lib'
import { Rule } from 'aws-cdk-lib/aws-events'
import { LambdaFunction as RuleTarget } from 'aws-cdk-lib/aws-events-targets'
import { Alias, type IFunction, type IVersion, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations'
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
import type { AwsStage } from '../config/config.ts'

/** What EventBridge reports of an execution that did not succeed. */
const ENDED_BADLY = ['FAILED', 'ABORTED', 'TIMED_OUT'] as const

/**
 * What a function is called with that nobody waits for, once Lambda has it: three attempts in all, over a few minutes.
 * Lambda itself keeps a call that it can't place (throttled, out of order) for as long as EventBridge would.
 */
const ASYNC_RETRIES = 2
const HALT_AGE = Duration.hours(6)

/** The longest that SQS keeps a message: a lost trigger must survive a holiday. */
const DEAD_LETTER_DAYS = 14

export type HaltRuleProps = { readonly jobMachine: IStateMachine; readonly haltJob: LambdaFunction }

/**
 * Calls HaltJob for every execution that did not succeed. Most have halted their job themselves by then, and the call
 * changes nothing; one that was stopped, timed out or filled its history had no Catch to do it.
 */
export class HaltRule extends Construct {
  /** Ends of executions that EventBridge could not deliver, or HaltJob not handle. */
  readonly deadLetters: Queue
  readonly rule: Rule
  /** The function as events call it. */
  readonly live: Alias

  constructor(scope: Construct, id: string, { jobMachine, haltJob }: HaltRuleProps) {
    super(scope, id)
    this.deadLetters = deadLetters(this)
    // An alias: nobody's execution depends on the code of a version here, and the newest is right.
    this.live = new Alias(this, 'HaltJobLive', { aliasName: 'live', version: haltJob.currentVersion as IVersion })
    // EventBridge's own queue only gets what Lambda does not accept; what the function fails at goes this way.
    this.live.configureAsyncInvoke({
      onFailure: new SqsDestination(this.deadLetters),
      retryAttempts: ASYNC_RETRIES,
      maxEventAge: HALT_AGE,
    })
    this.rule = new Rule(this, 'Rule', {
      description: 'Sharelock: executions that ended without success',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { stateMachineArn: [jobMachine.stateMachineArn], status: [...ENDED_BADLY] },
      },
      targets: [
        new RuleTarget(this.live as IFunction, {
          deadLetterQueue: this.deadLetters,
          retryAttempts: 20,
          maxEventAge: HALT_AGE,
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
  /** Sweeps that failed: apart from calls that were not delivered, since other people see to them. */
  readonly sweepFailures: Queue
  readonly month: Schedule
  readonly sweep: Schedule
  /** The function as the schedule calls it. */
  readonly live: Alias

  constructor(scope: Construct, id: string, { config, dispatchMachine, sweep }: SchedulesProps) {
    super(scope, id)
    this.deadLetters = deadLetters(this)
    this.sweepFailures = deadLetters(this, 'SweepFailures')
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
    this.live = new Alias(this, 'SweepLive', { aliasName: 'live', version: sweep.currentVersion as IVersion })
    // The next sweep makes up for a lost one, so a failed one is not repeated; but it is kept, and tells why.
    this.live.configureAsyncInvoke({
      onFailure: new SqsDestination(this.sweepFailures),
      retryAttempts: 0,
      maxEventAge: Duration.minutes(5),
    })
    this.sweep = new Schedule(this, 'Sweep', {
      description: 'Sharelock: halts abandoned jobs, publishes what is left in the outbox',
      schedule: ScheduleExpression.rate(Duration.minutes(config.sweepMinutes)),
      timeWindow: TimeWindow.off(),
      target: new LambdaInvoke(this.live as IFunction, {
        input: ScheduleTargetInput.fromObject({
          registeredByDay: config.alarms.registeredByDay,
          monthsBack: config.monthsBack,
        }),
        deadLetterQueue: this.deadLetters,
        retryAttempts: 2,
        maxEventAge: Duration.minutes(5),
      }),
    })
  }
}

const deadLetters = (scope: Construct, id = 'DeadLetters'): Queue =>
  new Queue(scope, id, {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(DEAD_LETTER_DAYS),
  })
