import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { Code } from 'aws-cdk-lib/aws-lambda'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parameterName, READER_PARAMETERS, type ReaderParameter } from '../../../infra/config/readers.ts'
import { ConsumerStack } from '../../../infra/example/consumer-stack.ts'
import { stageTemplates } from '../synth.ts'

let consumer: Template
let asked: string[]
const outdir = mkdtempSync(join(tmpdir(), 'sharelock-consumer-'))
afterAll(() => rmSync(outdir, { recursive: true }))

beforeAll(() => {
  const app = new App({ outdir, analyticsReporting: false, builtinCloudFormationValidation: false })
  const code = Code.fromInline('exports.handler = () => {}')
  consumer = Template.fromStack(new ConsumerStack(app, 'Consumer', { stage: 'prod', code }))
  asked = Object.values(consumer.toJSON().Parameters as Record<string, { Default?: string }>).flatMap(
    ({ Default = '' }) => (Default.startsWith('/sharelock/') ? [Default] : []),
  )
}, 60_000)

test('a consumer knows parameters of the stage and nothing else, and the stage has every one of them', () => {
  const { data } = stageTemplates('prod')
  const there = Object.values(data.findResources('AWS::SSM::Parameter')).map(({ Properties }) => Properties.Name)
  const names = Object.keys(READER_PARAMETERS) as ReaderParameter[]
  expect(there.toSorted()).toEqual(names.map((name) => parameterName('prod', name)).toSorted())
  expect(asked.length).toBeGreaterThan(8)
  expect(there).toEqual(expect.arrayContaining(asked))
  expect(JSON.stringify(consumer.toJSON())).not.toContain('Fn::ImportValue')
})

test('a consumer is told of registered months by a queue of its own, and what it fails at is seen', () => {
  consumer.hasResourceProperties('AWS::SNS::Subscription', {
    Protocol: 'sqs',
    RawMessageDelivery: true,
    FilterPolicy: { type: ['JobRegistered', 'JobWithdrawn'] },
  })
  consumer.hasResourceProperties('AWS::SQS::Queue', { RedrivePolicy: Match.objectLike({ maxReceiveCount: 5 }) })
  consumer.resourceCountIs('AWS::CloudWatch::Alarm', 1)
})

test('a consumer runs where the database lets it in, and may do nothing but log in as a reader', () => {
  consumer.hasResourceProperties('AWS::Lambda::Function', {
    VpcConfig: { SubnetIds: [Match.anyValue(), Match.anyValue()], SecurityGroupIds: [Match.anyValue()] },
  })
  // Its group is the stage's: nothing of it is changed from here.
  consumer.resourceCountIs('AWS::EC2::SecurityGroup', 0)
  expect(JSON.stringify(consumer.toJSON())).not.toContain('rds-db:connect')
})

test('the page names every parameter', () => {
  const page = readFileSync('docs/reader-access.md', 'utf8')
  for (const name of Object.keys(READER_PARAMETERS)) expect(page).toContain(`\`${name}\``)
})
