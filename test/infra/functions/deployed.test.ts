import type { Template } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, test } from 'vitest'
import { readEnv } from '../../../functions/contract/env.ts'
import { readMigratorEnv } from '../../../functions/contract/migrator-env.ts'
import { SUPPORT_NAMES, type SupportName, TASK_NAMES, TASKS } from '../../../functions/contract/tasks.ts'
import { SUPPORT_SANDBOXES, sandboxesMax } from '../../../infra/config/connections.ts'
import { stageConfig } from '../../../infra/config/stages.ts'
import { actionsOf, functionOf, stageTemplates } from '../synth.ts'

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
  ReuseSet: [CONNECT, LOCK, 's3:GetObject', 's3:ListBucket'],
  PlanDelete: [CONNECT, LOCK, 's3:GetObject', 's3:ListBucket'],
  DeleteChunk: [CONNECT, LOCK],
  MarkDeleted: [CONNECT, LOCK],
  BeginRegistering: [CONNECT, LOCK, ...READ],
  RegisterChunk: [CONNECT, LOCK, ...READ],
  MarkRegistered: [CONNECT, LOCK, 's3:GetObject', 's3:ListBucket'],
  ReleaseLock: [LOCK],
  PublishEvents: [CONNECT, ...PUBLISH],
  HaltJob: [CONNECT, LOCK, ...SEND],
  PlanMonth: [CONNECT, 's3:ListBucket'],
  Sweep: [CONNECT, LOCK, ...PUBLISH, ...SEND],
  Inspect: [CONNECT, LOCK, 's3:GetObject', 's3:ListBucket'],
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
      SMOKE_DISTRIBUTOR: 'SMOKE',
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
