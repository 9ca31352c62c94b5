import { Match, type Template } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, test } from 'vitest'
import { readEnv } from '../../../functions/contract/env.ts'
import { TASK_NAMES } from '../../../functions/contract/tasks.ts'
import { deployed, EXISTING } from '../existing.ts'
import { functionOf, stageTemplates } from '../synth.ts'

let data: Template
let job: Template
beforeAll(() => {
  const templates = stageTemplates(deployed(EXISTING))
  data = templates.data
  job = templates.job
}, 120_000)

type Endpoints = (typeof EXISTING)['network']['endpoints']
const dataWith = (change: Partial<Record<keyof Endpoints, 'present' | 'own' | 'gateway'>>): Template => {
  const endpoints = { ...EXISTING.network.endpoints, ...change } as Endpoints
  return stageTemplates(deployed({ ...EXISTING, network: { ...EXISTING.network, endpoints } })).data
}

describe('existing stores', () => {
  test('are used, and nothing of them is created', () => {
    for (const type of [
      'EC2::VPC',
      'EC2::Subnet',
      'RDS::DBInstance',
      'ElastiCache::ReplicationGroup',
      'ElastiCache::User',
    ])
      data.resourceCountIs(`AWS::${type}`, 0)
  })

  test('are reached on their own ports, on both sides of the way', () => {
    for (const [group, port] of [
      [EXISTING.database.securityGroupId, EXISTING.database.port],
      [EXISTING.lock.securityGroupId, EXISTING.lock.port],
    ] as const) {
      const rule = { FromPort: port, ToPort: port }
      data.hasResourceProperties('AWS::EC2::SecurityGroupIngress', { GroupId: group, ...rule })
      data.hasResourceProperties('AWS::EC2::SecurityGroupEgress', { DestinationSecurityGroupId: group, ...rule })
    }
    const text = JSON.stringify(data.toJSON())
    for (const usual of [3306, 6379]) expect(text).not.toContain(`"FromPort":${usual}`)
  })

  test("hold this stage's things under names of its own, which every function is told", () => {
    for (const task of TASK_NAMES) {
      const variables = Object.entries(functionOf(job, task).Environment?.Variables ?? {})
      const told = variables.map(([name, value]) => [name, typeof value === 'string' ? value : 'https://imported'])
      expect(readEnv(Object.fromEntries(told))).toMatchObject({
        DATABASE_NAME: 'sharelock_guest',
        DATABASE_USER: 'sharelock_guest',
        DATABASE_PORT: EXISTING.database.port,
        LOCK_PORT: EXISTING.lock.port,
        LOCK_PREFIX: 'guest:',
      })
    }
    expect(JSON.stringify(job.findResources('AWS::IAM::Policy'))).toMatch(/dbuser:db-[A-Z]+\/sharelock_guest"/)
  })

  test('are watched by every node that there is', () => {
    for (const alarm of ['lock-evictions', 'lock-memory', 'lock-cpu']) {
      const found = job.findResources('AWS::CloudWatch::Alarm', {
        Properties: { AlarmName: `sharelock-guest-${alarm}` },
      })
      for (const node of EXISTING.lock.nodeIds) expect(JSON.stringify(found), alarm).toContain(`"${node}"`)
    }
  })
})

describe("somebody's VPC", () => {
  test("keeps its names: our endpoints have no private DNS, and the functions call them by the endpoints' own", () => {
    const endpoints = Object.values(data.findResources('AWS::EC2::VPCEndpoint'))
    expect(endpoints).toHaveLength(3)
    for (const { Properties } of endpoints)
      expect(Properties).toMatchObject({ VpcEndpointType: 'Interface', PrivateDnsEnabled: false })
    const urlIn = (name: Parameters<typeof functionOf>[1], variable: string) =>
      JSON.stringify(functionOf(job, name).Environment?.Variables[variable])
    expect(urlIn('PublishEvents', 'AWS_ENDPOINT_URL_SNS')).toMatch(/"https:\/\/".*NetworkSns/)
    expect(urlIn('RegisterChunk', 'AWS_ENDPOINT_URL_S3')).toMatch(/"https:\/\/bucket".*NetworkS3Interface/)
    expect(urlIn('Migrate', 'AWS_ENDPOINT_URL_SECRETS_MANAGER')).toMatch(/"https:\/\/".*NetworkSecretsManager/)
    // A VPC of our own has nobody else in it.
    const own = stageTemplates('prod')
    own.data.allResourcesProperties('AWS::EC2::VPCEndpoint', Match.not({ PrivateDnsEnabled: false }))
    expect(JSON.stringify(own.job.toJSON())).not.toContain('AWS_ENDPOINT_URL')
  })

  test('keeps its routes, unless a gateway is asked for, which then stays open to everybody', () => {
    for (const { Properties } of Object.values(data.findResources('AWS::EC2::VPCEndpoint')))
      expect(Properties.RouteTableIds ?? []).toEqual([])
    const [gateway] = Object.values(
      dataWith({ s3: 'gateway' }).findResources('AWS::EC2::VPCEndpoint', {
        Properties: { VpcEndpointType: 'Gateway' },
      }),
    )
    expect(gateway?.Properties.RouteTableIds).toEqual(EXISTING.network.routeTableIds)
    expect(gateway?.Properties).not.toHaveProperty('PolicyDocument')
  })

  test('is asked for each endpoint by itself', () => {
    const services = (template: Template) =>
      Object.values(template.findResources('AWS::EC2::VPCEndpoint')).map(({ Properties }) =>
        JSON.stringify(Properties.ServiceName).replace(/.*\.(\w+)".*/, '$1'),
      )
    expect(services(data).toSorted()).toEqual(['s3', 'secretsmanager', 'sns'])
    expect(services(dataWith({ s3: 'present' })).toSorted()).toEqual(['secretsmanager', 'sns'])
    expect(services(dataWith({ sns: 'present' })).toSorted()).toEqual(['s3', 'secretsmanager'])
    const none = dataWith({ s3: 'present', sns: 'present', secretsManager: 'present' })
    none.resourceCountIs('AWS::EC2::VPCEndpoint', 0)
    // The functions' and the readers'.
    none.resourceCountIs('AWS::EC2::SecurityGroup', 2)
  })
})

/** The names that a stage gives itself, by type. Those of these types are within their role or function only. */
const namesOf = (
  values: Parameters<typeof deployed>[0],
  types: RegExp = /(?<!IAM::Policy|Lambda::Alias)$/,
): string[] => {
  const { data: stores, job: work } = stageTemplates(deployed(values))
  const resources = [stores, work].flatMap((template) =>
    Object.values(template.toJSON().Resources as Record<string, { Type: string; Properties?: object }>),
  )
  return resources
    .filter(({ Type }) => types.test(Type))
    .flatMap(({ Type, Properties = {} }) =>
      Object.entries(Properties)
        .filter(([key, value]) => NAMES.test(key) && typeof value === 'string')
        .map(([key, value]) => `${Type} ${key} ${value}`),
    )
}
const GLOBAL = /^AWS::(IAM::(Role|ManagedPolicy|User)|S3::)/
const NAMES =
  /^((Alarm|Dashboard|Function|Role|ManagedPolicy|Bucket|Topic|Queue|LogGroup|Rule|StateMachine|Secret)?Name|.*Identifier|ReplicationGroupId|User(Group)?(Id|Name))$/

describe('two stages', () => {
  const other = { ...EXISTING, stage: 'other' }

  test('in one account share no name', () => {
    const [one, two] = [namesOf(EXISTING), namesOf(other)]
    expect(one.length).toBeGreaterThan(20)
    expect(one.filter((name) => two.includes(name))).toEqual([])
  })

  test('of one name in two regions share none that holds for the whole account', () => {
    const zones = ['ap-northeast-1a', 'ap-northeast-1c']
    const tokyo = { ...EXISTING, region: 'ap-northeast-1', network: { ...EXISTING.network, zones } }
    const [one, two] = [namesOf(EXISTING, GLOBAL), namesOf(tokyo, GLOBAL)]
    expect(one).toHaveLength(4)
    expect(one.filter((name) => two.includes(name))).toEqual([])
  })
})
