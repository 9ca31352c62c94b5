import { Duration } from 'aws-cdk-lib'
import { Metric } from 'aws-cdk-lib/aws-cloudwatch'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { IStateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import type { AlarmSpec, Watched } from './alarm-spec.ts'
import { emitted, over } from './metrics.ts'

const badly = (machine: IStateMachine) =>
  over(
    'SUM',
    [
      machine.metricFailed({ statistic: 'Sum' }),
      machine.metricTimedOut({ statistic: 'Sum' }),
      machine.metricAborted({ statistic: 'Sum' }),
    ],
    'failed, timed out, aborted',
  )

const machines = ({ jobMachine, dispatchMachine }: Watched): AlarmSpec[] => [
  {
    name: 'execution-failed',
    meaning: 'An execution ended without success: rejected, refused, overtaken, halted, stopped or timed out.',
    metric: badly(jobMachine),
    threshold: 1,
  },
  {
    name: 'dispatch-failed',
    pages: true,
    meaning: 'The month was not dispatched, or not to all.',
    metric: badly(dispatchMachine),
    threshold: 1,
  },
]

const waiting = (queue: IQueue) => queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum' })

const calls = ({ config, haltRule, schedules }: Watched): AlarmSpec[] => [
  {
    name: 'schedule-dead-letters',
    pages: true,
    meaning: 'A schedule could not deliver its call.',
    metric: waiting(schedules.deadLetters),
    threshold: 1,
  },
  {
    name: 'halt-dead-letters',
    meaning:
      'The end of an execution was not delivered to HaltJob, or HaltJob failed at it; the sweeper halts its job later.',
    metric: waiting(haltRule.deadLetters),
    threshold: 1,
  },
  {
    name: 'events-dropped',
    pages: true,
    meaning: 'A call is lost for good: neither its function nor its queue took it.',
    metric: over(
      'SUM',
      [
        haltRule.live.metric('DestinationDeliveryFailures', { statistic: 'Sum' }),
        schedules.live.metric('DestinationDeliveryFailures', { statistic: 'Sum' }),
        new Metric({
          namespace: 'AWS/Events',
          metricName: 'InvocationsFailedToBeSentToDlq',
          dimensionsMap: { RuleName: haltRule.rule.ruleName },
          statistic: 'Sum',
        }),
      ],
      'lost calls',
    ),
    threshold: 1,
  },
  {
    name: 'sweep-failed',
    meaning: 'A sweep ended with an error; the next one makes up for it.',
    metric: waiting(schedules.sweepFailures),
    threshold: 1,
  },
  {
    name: 'sweep-silent',
    pages: true,
    meaning: 'The sweeper has failed to finish three times in a row.',
    metric: emitted(config.stage, 'outbox.age', 'SampleCount', Duration.minutes(config.sweepMinutes)),
    threshold: 1,
    periods: 3,
    below: true,
    missingIsBad: true,
  },
]

/** What calls the machines and functions, and how it ended. */
export const triggerAlarms = (watched: Watched): AlarmSpec[] => [...machines(watched), ...calls(watched)]
