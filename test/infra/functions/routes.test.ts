import type { Template } from 'aws-cdk-lib/assertions'
import { buildSync } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  type FunctionName,
  handlerFile,
  SUPPORT,
  SUPPORT_NAMES,
  TASK_NAMES,
  TASKS,
} from '../../../functions/contract/tasks.ts'
import { functionOf, stageTemplates } from '../synth.ts'

/*
 * What a function calls is read from its code: the AWS commands, statements and scripts that are left in its bundle.
 * Whether it gets there is read from the templates: endpoints, route tables and pairs of security groups. There is no
 * NAT, so what has no route here has none.
 */

const NAMES: FunctionName[] = [...TASK_NAMES, ...SUPPORT_NAMES]
const SPECS = { ...TASKS, ...SUPPORT }

type Service = 's3' | 'sns' | 'secretsmanager' | 'mysql' | 'valkey'

/** The handler with all that it uses of this project, and nothing that it does not: esbuild leaves that out. */
const codeOf = (name: FunctionName): string => {
  const { outputFiles } = buildSync({
    entryPoints: [`functions/handlers/${handlerFile(name)}.ts`],
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}

/** Clients are made in every sandbox: a command that is made, too, is what calls. */
const sends =
  (client: string) =>
  (code: string): boolean => {
    const imports = code.matchAll(new RegExp(`import \\{([^}]*)\\} from "@aws-sdk/${client}"`, 'g'))
    const names = [...imports].flatMap(([, list = '']) => list.split(/[\s,]+/))
    return names.some((name) => name.endsWith('Command') && code.includes(`new ${name}(`))
  }

/** How a call of each service looks in the code. */
const CALLS: Readonly<Record<Service, (code: string) => boolean>> = {
  s3: sends('client-s3'),
  sns: sends('client-sns'),
  secretsmanager: sends('client-secrets-manager'),
  mysql: (code) => /await (statement|transaction|exclusively)\(|create database if not exists/.test(code),
  valkey: (code) => code.includes('redis.call('),
}
const SERVICES = Object.keys(CALLS) as Service[]

const servicesIn = (code: string): Service[] => SERVICES.filter((service) => CALLS[service](code))

const calls = new Map<FunctionName, Service[]>()
const callsOf = (name: FunctionName): Service[] => {
  const found = calls.get(name) ?? servicesIn(codeOf(name))
  calls.set(name, found)
  return found
}

let data: Template
let job: Template
beforeAll(() => {
  ;({ data, job } = stageTemplates('prod'))
}, 120_000)

describe('what a function calls is what its spec says', () => {
  test.each(NAMES)('%s', (name) => {
    const { database, lock, storage, topic } = SPECS[name]
    const expected: Record<Service, boolean> = {
      s3: storage !== 'none',
      sns: topic,
      secretsmanager: name === 'Migrate',
      mysql: database,
      valkey: lock,
    }
    expect(callsOf(name)).toEqual(SERVICES.filter((service) => expected[service]))
  })
})

describe('every service that a function calls has a route', () => {
  const resources = (type: string) =>
    Object.entries(data.findResources(type)).map(([id, { Properties }]) => ({ id, ...Properties }))
  const hasRoute: Record<Service, () => boolean> = {
    s3: () => {
      const tables = resources('AWS::EC2::SubnetRouteTableAssociation').map(({ RouteTableId }) =>
        JSON.stringify(RouteTableId),
      )
      const gateway = endpoint('s3')
      return tables.length > 0 && tables.every((table) => JSON.stringify(gateway?.RouteTableIds).includes(table))
    },
    sns: () => isReached('sns'),
    secretsmanager: () => isReached('secretsmanager'),
    mysql: () => isPaired(3306),
    valkey: () => isPaired(6379),
  }
  const endpoint = (service: string) =>
    resources('AWS::EC2::VPCEndpoint').find(({ ServiceName }) => JSON.stringify(ServiceName).includes(`.${service}"`))
  /** An interface endpoint answers under the service's own name, and lets the functions in. */
  const isReached = (service: string): boolean => {
    const found = endpoint(service)
    const group = JSON.stringify(found?.SecurityGroupIds?.[0] ?? '')
    const lets = resources('AWS::EC2::SecurityGroupIngress').some(
      ({ GroupId, FromPort }) => JSON.stringify(GroupId) === group && FromPort === 443,
    )
    return found?.PrivateDnsEnabled === true && lets
  }
  /** The functions' group lets the port out, the store's group lets it in from there. */
  const isPaired = (port: number): boolean => {
    const out = resources('AWS::EC2::SecurityGroupEgress').filter(
      ({ ToPort, GroupId }) => ToPort === port && JSON.stringify(GroupId).includes('FunctionsGroup'),
    )
    const into = resources('AWS::EC2::SecurityGroupIngress').filter(
      ({ ToPort, SourceSecurityGroupId }) =>
        ToPort === port && JSON.stringify(SourceSecurityGroupId).includes('FunctionsGroup'),
    )
    return (
      out.length === 1 &&
      into.length === 1 &&
      JSON.stringify(out[0]?.GroupId) === JSON.stringify(into[0]?.SourceSecurityGroupId) &&
      JSON.stringify(into[0]?.GroupId) === JSON.stringify(out[0]?.DestinationSecurityGroupId)
    )
  }

  test.each(NAMES)('%s', (name) => {
    for (const service of callsOf(name)) expect(hasRoute[service](), `${name} to ${service}`).toBe(true)
  })

  test('all functions are in the isolated subnets, behind one security group', () => {
    for (const name of NAMES) {
      const { VpcConfig } = functionOf(job, name)
      expect(VpcConfig?.SubnetIds, name).toHaveLength(2)
      expect(JSON.stringify(VpcConfig?.SecurityGroupIds), name).toMatch(/FunctionsGroup/)
      expect(VpcConfig?.SecurityGroupIds, name).toHaveLength(1)
    }
  })

  test('the stores let nobody else in but programs that read a month, and those to MySQL alone', () => {
    const into = resources('AWS::EC2::SecurityGroupIngress').map(({ ToPort, SourceSecurityGroupId }) => {
      const [, group] = /(Functions|Readers?)\w*Group/.exec(JSON.stringify(SourceSecurityGroupId)) ?? []
      return `${group} ${ToPort}`
    })
    expect(into.toSorted()).toEqual(['Functions 3306', 'Functions 443', 'Functions 6379', 'Readers 3306'])
    for (const { SecurityGroupIngress } of resources('AWS::EC2::SecurityGroup'))
      expect(SecurityGroupIngress).toBeUndefined()
  })
})
