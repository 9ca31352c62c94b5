import { Match, type Template } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, test } from 'vitest'
import { readEnv } from '../../functions/contract/env.ts'
import { readMigratorEnv } from '../../functions/contract/migrator-env.ts'
import { operatorFunctionName } from '../../functions/contract/operations.ts'
import { SUPPORT, SUPPORT_NAMES, type SupportName, TASK_NAMES, TASKS } from '../../functions/contract/tasks.ts'
import { SUPPORT_SANDBOXES, sandboxesMax } from '../../infra/config/connections.ts'
import { stageConfig } from '../../infra/config/stages.ts'
import { TRIGGER_TIMEOUT_S } from '../../infra/functions/migration.ts'
import { actionsOf, functionOf, stageTemplates } from './synth.ts'

let data: Template
let job: Template
beforeAll(() => {
  ;({ data, job } = stageTemplates('prod'))
}, 120_000)

const NAMES = [...TASK_NAMES, ...SUPPORT_NAMES]
const CONNECT = 'rds-db:connect'
const LOCK = 'elasticache:Connect'
const READ = ['s3:GetBucket*', 's3:GetObject*', 's3:List*']
const PUBLISH = ['kms:Decrypt', 'kms:GenerateDataKey*', 'sns:Publish']
const WRITE = [
  's3:Abort*',
  's3:PutObject',
  's3:PutObjectLegalHold',
  's3:PutObjectRetention',
  's3:PutObjectTagging',
  's3:PutObjectVersionTagging',
]
const SEND = ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:SendMessage']
const TRACE = ['xray:PutTelemetryRecords', 'xray:PutTraceSegments']

/** What each role may do, tracing aside. */
const ALLOWED = {
  StageSource: [CONNECT, ...READ, ...WRITE],
  AcquireLock: [CONNECT, LOCK],
  ReadHead: [CONNECT],
  OpenJob: [CONNECT, LOCK],
  PlanDelete: [CONNECT, LOCK, 's3:GetObject', 's3:ListBucket'],
  DeleteChunk: [CONNECT, LOCK],
  MarkDeleted: [CONNECT, LOCK],
  BeginRegistering: [CONNECT, LOCK, ...READ],
  RegisterChunk: [CONNECT, LOCK, ...READ],
  MarkRegistered: [CONNECT, LOCK],
  ReleaseLock: [LOCK],
  PublishEvents: [CONNECT, ...PUBLISH],
  HaltJob: [CONNECT, LOCK, ...SEND],
  PlanMonth: [CONNECT, 's3:ListBucket'],
  Sweep: [CONNECT, LOCK, ...PUBLISH, ...SEND],
  Inspect: [CONNECT, LOCK],
  Operate: [CONNECT, LOCK],
  Migrate: ['secretsmanager:DescribeSecret', 'secretsmanager:GetSecretValue'],
} as const satisfies Record<(typeof NAMES)[number], readonly string[]>

describe('access', () => {
  test.each(NAMES)('%s may do what its task needs and nothing else', (name) => {
    expect(actionsOf(job, name)).toEqual([...ALLOWED[name], ...TRACE].toSorted())
  })

  test("to MySQL is as the functions' user only, to Valkey as the locks' user of the one group", () => {
    const text = JSON.stringify(job.findResources('AWS::IAM::Policy'))
    const users = new Set([...text.matchAll(/dbuser:[^\]]*?\/(\w+)"/g)].map((match) => match[1]))
    expect([...users]).toEqual(['sharelock_app'])
    const arns = new Set([...text.matchAll(/"(arn:aws:elasticache:[^"]+)"/g)].map((match) => match[1]))
    expect([...arns].toSorted()).toEqual(
      ['replicationgroup', 'user'].map(
        (kind) => `arn:aws:elasticache:ap-northeast-2:333333333333:${kind}:sharelock-prod`,
      ),
    )
  })

  test('only the migrator is told where the master secret is', () => {
    const functions = Object.entries(job.findResources('AWS::Lambda::Function'))
    const told = functions.filter(([, { Properties }]) =>
      JSON.stringify(Properties.Environment ?? {}).includes('MasterUserSecret'),
    )
    expect(told.map(([id]) => id.slice(0, -8))).toEqual(['FunctionsMigrate'])
  })

  test('needs no secret: none is in an environment or a template', () => {
    for (const template of [data, job]) {
      const text = JSON.stringify(template.toJSON())
      for (const word of ['_PASSWORD"', '"MasterUserPassword"', 'AuthToken', 'resolve:secretsmanager', 'AKIA'])
        expect(text.includes(word), word).toBe(false)
    }
  })
})

describe('the environment', () => {
  /** With something in place of what only the deployment knows. */
  const environmentOf = (name: (typeof NAMES)[number]): Record<string, string> =>
    Object.fromEntries(
      Object.entries(functionOf(job, name).Environment?.Variables ?? {}).map(([key, value]) => [
        key,
        typeof value === 'string' ? value : /PORT/.test(key) ? '1234' : 'arn:imported',
      ]),
    )

  test.each(NAMES.filter((name) => name !== 'Migrate'))(
    'of %s is one its code accepts: IAM and verified TLS',
    (name) => {
      expect(readEnv({ AWS_REGION: 'ap-northeast-2', ...environmentOf(name) })).toMatchObject({
        STAGE: 'prod',
        DATABASE_USER: 'sharelock_app',
        DATABASE_AUTH: 'iam',
        DATABASE_TLS: 'verify',
        LOCK_AUTH: 'iam',
        LOCK_TLS: 'verify',
        LOCK_USER: 'sharelock-prod',
        LOCK_GROUP_ID: 'sharelock-prod',
      })
    },
  )

  test('of the migrator is one its code accepts', () => {
    expect(readMigratorEnv({ AWS_REGION: 'ap-northeast-2', ...environmentOf('Migrate') })).toMatchObject({
      DATABASE_USER: 'sharelock_app',
      SMOKE_DISTRIBUTOR: '',
    })
  })

  test('gives the topic to those who publish', () => {
    const told = NAMES.filter((name) => 'TOPIC_ARN' in environmentOf(name))
    expect(told).toEqual(['PublishEvents', 'Sweep'])
  })
})

describe('concurrency', () => {
  test.each(NAMES)('of %s is reserved within the budget of connections', (name) => {
    const config = stageConfig('prod')
    const expected = name in TASKS ? sandboxesMax(name, config) : SUPPORT_SANDBOXES[name as SupportName]
    expect(functionOf(job, name).ReservedConcurrentExecutions).toBe(expected)
  })

  test('is left to the account where the stage says so', () => {
    const dev = stageTemplates('dev').job
    for (const name of NAMES) expect(functionOf(dev, name)).not.toHaveProperty('ReservedConcurrentExecutions')
  })
})

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

type Statement = { readonly Sid: string; readonly Action: string | string[]; readonly Resource: unknown }

const statementsOf = (policy: string): Statement[] => {
  const [found] = Object.values(
    job.findResources('AWS::IAM::ManagedPolicy', { Properties: { ManagedPolicyName: policy } }),
  )
  return found?.Properties.PolicyDocument.Statement
}
const actionsIn = (policy: string) => statementsOf(policy).flatMap(({ Action }) => Action)
const invokedBy = (policy: string) =>
  statementsOf(policy)
    .filter(({ Action }) => Action === 'lambda:InvokeFunction')
    .map(({ Resource }) => JSON.stringify(Resource).replace(/[0-9A-F]{8}/, ''))

const READING = [
  'lambda:InvokeFunction',
  's3:GetObject',
  's3:ListBucket',
  'states:DescribeExecution',
  'states:DescribeStateMachine',
  'states:GetExecutionHistory',
  'states:ListExecutions',
]

describe('an operator', () => {
  test('may look, upload, start, stop and operate, and nothing else', () => {
    const actions = [...READING, 's3:PutObject', 'states:StartExecution', 'states:StopExecution']
    expect([...new Set(actionsIn('sharelock-prod-operator'))].toSorted()).toEqual(actions.toSorted())
  })

  test('calls the two functions for operators by their plain names, and no other', () => {
    const arn = (name: string) => `{"Fn::GetAtt":["Functions${name}","Arn"]}`
    expect(invokedBy('sharelock-prod-operator')).toEqual([arn('Inspect'), arn('Operate')])
    expect(invokedBy('sharelock-prod-reader')).toEqual([arn('Inspect')])
  })

  test('that only reads may look at everything an operator sees and change nothing', () => {
    expect(actionsIn('sharelock-prod-reader').toSorted()).toEqual(READING)
  })

  test.each(['operator', 'reader'])('%s is held to this stage: no statement names everything', (kind) => {
    for (const { Resource } of statementsOf(`sharelock-prod-${kind}`)) expect(Resource).not.toBe('*')
    const text = JSON.stringify(statementsOf(`sharelock-prod-${kind}`))
    for (const prefix of ['incoming', 'rejected', 'staged']) expect(text).toContain(`/${prefix}/*`)
  })

  test('finds the functions by the names that the stage gives', () => {
    for (const name of ['Inspect', 'Operate'] as const)
      expect(functionOf(job, name)).toMatchObject({ FunctionName: operatorFunctionName('prod', name) })
  })

  test('is told by Inspect, and by no other function, which machines there are', () => {
    const { STATE_MACHINE_ARN, DISPATCH_MACHINE_ARN } = functionOf(job, 'Inspect').Environment?.Variables ?? {}
    expect(STATE_MACHINE_ARN).toEqual({ Ref: expect.stringMatching(/^JobStateMachine/) })
    expect(DISPATCH_MACHINE_ARN).toEqual({ Ref: expect.stringMatching(/^DispatchStateMachine/) })
    const told = NAMES.filter((name) => 'STATE_MACHINE_ARN' in (functionOf(job, name).Environment?.Variables ?? {}))
    expect(told).toEqual(['Inspect'])
  })

  test('can redrive nothing', () => {
    expect(JSON.stringify(job.toJSON())).not.toContain('RedriveExecution')
  })
})
