import { Match, type Template } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, test } from 'vitest'
import { readConfig, type StageValues } from '../../../infra/config/config.ts'
import { stageConfig } from '../../../infra/config/stages.ts'
import { deployed, EXISTING } from '../existing.ts'
import { functionOf, stageTemplates } from '../synth.ts'

const READERS = {
  groups: ['sg-0feedfacefeedface'],
  cidrs: ['10.99.0.0/16'],
  accounts: ['666666666666'],
}

let plain: Template
let open: Template
let guest: { data: Template; job: Template }

const withReaders = (readers: object) => ({ ...stageConfig('prod'), readers }) as StageValues

beforeAll(() => {
  plain = stageTemplates('prod').data
  open = stageTemplates(readConfig(withReaders(READERS))).data
  guest = stageTemplates(deployed({ ...EXISTING, readers: { groups: READERS.groups } }))
}, 120_000)

const rulesOf = (template: Template) =>
  Object.values(template.findResources('AWS::EC2::SecurityGroupIngress')).map(({ Properties }) => Properties)

describe('readers of a new database', () => {
  test('come in through a group of their own, which leads to the database and nowhere else', () => {
    const own = rulesOf(plain).filter(({ SourceSecurityGroupId }) =>
      JSON.stringify(SourceSecurityGroupId).includes('ReadersGroup'),
    )
    expect(own).toMatchObject([{ FromPort: 3306, ToPort: 3306, IpProtocol: 'tcp' }])
    expect(JSON.stringify(own[0]?.GroupId)).toContain('DatabaseGroup')
    const ways = Object.values(plain.findResources('AWS::EC2::SecurityGroupEgress')).filter(({ Properties }) =>
      JSON.stringify(Properties.GroupId).includes('ReadersGroup'),
    )
    expect(ways.map(({ Properties }) => Properties)).toMatchObject([{ FromPort: 3306, ToPort: 3306 }])
    expect(JSON.stringify(ways[0]?.Properties.DestinationSecurityGroupId)).toContain('DatabaseGroup')
  })

  test('come in from the groups and ranges that the stage names, on its port, and their groups are left alone', () => {
    expect(rulesOf(open)).toContainEqual(
      expect.objectContaining({ SourceSecurityGroupId: READERS.groups[0], FromPort: 3306, ToPort: 3306 }),
    )
    open.hasResourceProperties('AWS::EC2::SecurityGroup', {
      SecurityGroupIngress: [Match.objectLike({ CidrIp: READERS.cidrs[0], FromPort: 3306, ToPort: 3306 })],
    })
    for (const { Properties } of Object.values(open.findResources('AWS::EC2::SecurityGroupEgress')))
      expect(Properties.GroupId).not.toBe(READERS.groups[0])
    expect(JSON.stringify(plain.toJSON())).not.toContain(READERS.groups[0])
  })

  test('log in as their own user, by a policy that can do nothing else', () => {
    plain.hasResourceProperties('AWS::IAM::ManagedPolicy', {
      ManagedPolicyName: 'sharelock-prod-ap-northeast-2-settlement',
      PolicyDocument: { Statement: [Match.objectLike({ Action: 'rds-db:connect', Effect: 'Allow' })] },
    })
    const [policy] = Object.values(plain.findResources('AWS::IAM::ManagedPolicy'))
    expect(JSON.stringify(policy?.Properties.PolicyDocument)).toMatch(/\/sharelock_reader"/)
  })

  test('of another account may subscribe programs where it is named, and nobody else may', () => {
    const subscribing = (template: Template) =>
      Object.values(template.findResources('AWS::SNS::TopicPolicy')).filter((policy) =>
        JSON.stringify(policy).includes('sns:Subscribe'),
      )
    expect(subscribing(plain)).toEqual([])
    const [policy] = subscribing(open)
    expect(JSON.stringify(policy)).toContain('arn:aws:iam::666666666666:root')
    expect(JSON.stringify(policy)).toContain('"sns:Protocol":["sqs","lambda","firehose"]')
  })
})

test('the migrator creates their user, by the name that readers are told', () => {
  for (const [{ data, job }, user] of [
    [{ data: plain, job: stageTemplates('prod').job }, 'sharelock_reader'],
    [guest, 'sharelock_guest_r'],
  ] as const) {
    expect(functionOf(job, 'Migrate').Environment?.Variables).toMatchObject({ READER_USER: user })
    data.hasResourceProperties('AWS::SSM::Parameter', { Name: Match.stringLikeRegexp('database/user$'), Value: user })
  }
})

test("somebody's database lets readers in on its own port", () => {
  expect(rulesOf(guest.data)).toContainEqual(
    expect.objectContaining({ SourceSecurityGroupId: READERS.groups[0], FromPort: 3_307, ToPort: 3_307 }),
  )
})

test.each([
  [{ cidrs: ['0.0.0.0/0'] }, /a range of \/16 or smaller/],
  [{ cidrs: ['10.0.0.1'] }, /a range such as/],
  [{ groups: ['default'] }, /an id such as sg-/],
  [{ accounts: ['333333333333'] }, /the own account may subscribe already/],
])('%j stops synthesis with a sentence', (readers, sentence) => {
  expect(() => readConfig(withReaders(readers))).toThrow(sentence)
})
