import { Match, type Template } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, test } from 'vitest'
import { SUPPORT } from '../../../functions/contract/tasks.ts'
import { TRIGGER_TIMEOUT_S } from '../../../infra/functions/migration.ts'
import { stageTemplates } from '../synth.ts'

let job: Template

beforeAll(() => {
  job = stageTemplates('prod').job
}, 120_000)

describe('the migration', () => {
  test('runs before anything works with the new code', () => {
    const { Resources } = job.toJSON()
    const gated = Object.entries(Resources as Record<string, { Type: string; DependsOn?: string[] }>).filter(
      ([, { Type }]) =>
        [
          'AWS::StepFunctions::StateMachine',
          'AWS::Events::Rule',
          'AWS::Scheduler::Schedule',
          'AWS::Lambda::Alias',
        ].includes(Type),
    )
    expect(gated.map(([id]) => id.replace(/[0-9A-F]{8}$/, '')).toSorted()).toEqual([
      'DispatchStateMachine',
      'HaltRule',
      'HaltRuleHaltJobLive',
      'JobStateMachine',
      'SchedulesMonth',
      'SchedulesSweep',
      'SchedulesSweepLive',
    ])
    for (const [id, { DependsOn }] of gated) expect(DependsOn, id).toContain('Migration')
  })

  test('runs before the code changes that operators call by its plain name', () => {
    const functions = Object.entries(job.findResources('AWS::Lambda::Function'))
    const gated = functions.filter(([, { DependsOn }]) => DependsOn?.includes('Migration'))
    expect(gated.map(([id]) => id.slice(0, -8)).toSorted()).toEqual(['FunctionsInspect', 'FunctionsOperate'])
  })

  test('is called by version, once, and fails the deployment when it fails', () => {
    job.hasResourceProperties('Custom::Trigger', {
      HandlerArn: { Ref: Match.stringLikeRegexp('^FunctionsMigrateCurrentVersion') },
      InvocationType: 'RequestResponse',
      Timeout: String(TRIGGER_TIMEOUT_S * 1_000),
    })
  })

  test("its timeout < the trigger's <= Lambda's ceiling: a call is never repeated beside the first", () => {
    expect(SUPPORT.Migrate.lambdaTimeoutS).toBeLessThan(TRIGGER_TIMEOUT_S)
    expect(TRIGGER_TIMEOUT_S).toBeLessThanOrEqual(900)
  })
})

/** The queues that a function's role may send to. */
const sendsTo = (name: string): unknown[] =>
  Object.entries(job.findResources('AWS::IAM::Policy'))
    .filter(([id]) => id.startsWith(`Functions${name}ServiceRole`))
    .flatMap(([, { Properties }]) => Properties.PolicyDocument.Statement as { Action: unknown; Resource: unknown }[])
    .filter(
      ({ Action }) => Action === 'sqs:SendMessage' || (Array.isArray(Action) && Action.includes('sqs:SendMessage')),
    )
    .map(({ Resource }) => Resource)

describe('the triggers', () => {
  test('the month is dispatched on its day and hour in Seoul, with the scheduled time', () => {
    job.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'cron(0 2 10 * ? *)',
      ScheduleExpressionTimezone: 'Asia/Seoul',
      FlexibleTimeWindow: { Mode: 'OFF' },
      State: 'ENABLED',
      Target: {
        Arn: { Ref: Match.stringLikeRegexp('^DispatchStateMachine') },
        Input: '{"scheduledAt":"<aws.scheduler.scheduled-time>"}',
        DeadLetterConfig: Match.anyValue(),
        RetryPolicy: { MaximumEventAgeInSeconds: 86_400 },
      },
    })
  })

  test('the sweeper is called every few minutes', () => {
    job.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'rate(5 minutes)',
      Target: {
        Arn: { Ref: Match.stringLikeRegexp('^SchedulesSweepLive') },
        Input: '{"registeredByDay":12,"monthsBack":1}',
        DeadLetterConfig: Match.anyValue(),
      },
    })
  })

  test("every end without success of the job's machine, and of no other, calls HaltJob", () => {
    job.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: {
        source: ['aws.states'],
        'detail-type': ['Step Functions Execution Status Change'],
        detail: {
          stateMachineArn: [{ Ref: Match.stringLikeRegexp('^JobStateMachine') }],
          status: ['FAILED', 'ABORTED', 'TIMED_OUT'],
        },
      },
      Targets: [
        Match.objectLike({
          Arn: { Ref: Match.stringLikeRegexp('^HaltRuleHaltJobLive') },
          DeadLetterConfig: Match.anyValue(),
        }),
      ],
    })
  })

  test.each([
    ['HaltJob', 'HaltRuleHaltJobLive', 'HaltRuleDeadLetters', 2, 21_600],
    ['Sweep', 'SchedulesSweepLive', 'SchedulesSweepFailures', 0, 300],
  ] as const)('keep what %s failed at, for nobody waits for its answer', (name, alias, queue, retries, ageS) => {
    const queueArn = { 'Fn::GetAtt': [expect.stringMatching(new RegExp(`^${queue}`)), 'Arn'] }
    const configs = Object.values(job.findResources('AWS::Lambda::EventInvokeConfig'))
    const config = configs.find(({ Properties }) => JSON.stringify(Properties.Qualifier).includes(`"${alias}`))
    expect(config?.Properties).toMatchObject({
      DestinationConfig: { OnFailure: { Destination: queueArn } },
      MaximumRetryAttempts: retries,
      MaximumEventAgeInSeconds: ageS,
    })
    expect(sendsTo(name)).toEqual([queueArn])
  })

  test('keep what they could not deliver, encrypted, for two weeks', () => {
    job.resourceCountIs('AWS::SQS::Queue', 3)
    job.allResourcesProperties('AWS::SQS::Queue', { SqsManagedSseEnabled: true, MessageRetentionPeriod: 1_209_600 })
  })
})
