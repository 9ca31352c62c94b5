import { type Stack, Validations } from 'aws-cdk-lib'
import type { IConstruct } from 'constructs'
import { TASK_NAMES } from '../../functions/contract/tasks.ts'
import type { StageStacks } from '../stacks/stage-stacks.ts'

/*
 * The findings of cdk-nag (AwsSolutions) that are as they should be, each with its reason. An acknowledgement holds for
 * exactly one finding id, logical ids included, under the construct it is made on; a new wildcard is a new finding. A test
 * proves that nothing is left over, on either side.
 */

export type Acknowledged = { readonly at: IConstruct; readonly id: string; readonly reason: string }

const XRAY_OR_LOGS = 'X-Ray and the delivery of logs know no resources: AWS documents these actions with "*" only.'
const GRANTED_READ =
  "Granted by the bucket's grantRead, on this bucket and these prefixes only; the wildcards are the read actions of S3."

const child = (scope: IConstruct, path: string): IConstruct => {
  const found = path.split('/').reduce<IConstruct | undefined>((at, name) => at?.node.tryFindChild(name), scope)
  if (found === undefined) throw new Error(`${scope.node.path} has no ${path}`)
  return found
}

const managed = (policy: string) =>
  `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/${policy}]`

/** What cdk-nag calls the objects of the data stack's bucket: by the name under which that stack exports its ARN. */
const objects = (data: Stack, prefix: string) =>
  `AwsSolutions-IAM5[Resource::${data.stackName}:ExportsOutputFnGetAttBucketArn436138FE/${prefix}/*]`

const ofData = (data: Stack, isReplicated: boolean): Acknowledged[] => [
  ...['RDS11', 'RDS3'].map((rule) => ({
    at: child(data, 'Database'),
    id: `AwsSolutions-${rule}`,
    reason:
      rule === 'RDS11'
        ? 'The default port: isolated subnets and security groups protect it, and tools expect it.'
        : 'One zone is enough for a development stage, by its configuration.',
  })),
  {
    at: child(data, 'Lock'),
    id: 'AwsSolutions-AEC5',
    reason: 'The default port: isolated subnets and security groups protect it, and tools expect it.',
  },
  {
    at: child(data, 'Lock'),
    id: 'AwsSolutions-AEC6',
    reason: 'Access is by IAM through a user group, which is stronger than the AUTH token that is looked for.',
  },
  ...(isReplicated
    ? []
    : [
        {
          at: child(data, 'Lock'),
          id: 'AwsSolutions-AEC4',
          reason: 'One node is enough for a development stage, by its configuration.',
        },
      ]),
]

const ofFunctions = (job: Stack, data: Stack): Acknowledged[] => {
  const functions = child(job, 'Functions')
  const at = (name: string) => child(functions, name)
  const readers = ['StageSource', 'BeginRegistering', 'RegisterChunk'].map(at)
  return [
    ...['AWSLambdaBasicExecutionRole', 'AWSLambdaVPCAccessExecutionRole'].map((policy) => ({
      at: functions,
      id: managed(policy),
      reason:
        "AWS's own policies for writing logs and for network interfaces in a VPC; each function has its own role.",
    })),
    { at: functions, id: 'AwsSolutions-IAM5[Resource::*]', reason: XRAY_OR_LOGS },
    ...readers.flatMap((reader) => [
      ...['GetBucket*', 'GetObject*', 'List*'].map((action) => ({
        at: reader,
        id: `AwsSolutions-IAM5[Action::s3:${action}]`,
        reason: GRANTED_READ,
      })),
      { at: reader, id: objects(data, 'staged'), reason: 'Staged sources have addresses made of their content.' },
    ]),
    ...['ReuseSet', 'PlanDelete', 'MarkRegistered', 'Inspect'].map((name) => ({
      at: at(name),
      id: objects(data, 'staged').replace('/*]', '/*/manifest.json]'),
      reason: 'Manifests only, each in a folder whose name is made of its content.',
    })),
    ...['incoming', 'rejected'].map((prefix) => ({
      at: at('StageSource'),
      id: objects(data, prefix),
      reason: 'Files and reports have names that nobody knows beforehand; the prefix is the limit.',
    })),
    {
      at: at('StageSource'),
      id: 'AwsSolutions-IAM5[Action::s3:Abort*]',
      reason: "Granted by the bucket's grantPut: aborting an upload that it began.",
    },
    ...['PublishEvents', 'Sweep'].map((name) => ({
      at: at(name),
      id: 'AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
      reason: "Granted by the topic's grantPublish, on the topics' own key only.",
    })),
  ]
}

const ofMachines = (job: Stack): Acknowledged[] => {
  const machines = ['Job', 'Dispatch'].map((name) => child(job, `${name}/StateMachine`))
  const functions = child(job, 'Functions')
  const versions = (at: IConstruct, names: readonly string[]) =>
    names.map((name) => {
      const id = job.getLogicalId(child(functions, `${name}/Resource`) as never)
      return {
        at,
        id: `AwsSolutions-IAM5[Resource::<${id}.Arn>:*]`,
        reason: 'Every version of this function: an execution that began before a deployment calls the older one.',
      }
    })
  const [jobMachine, dispatchMachine] = machines as [IConstruct, IConstruct]
  return [
    ...machines.map((at) => ({ at, id: 'AwsSolutions-IAM5[Resource::*]', reason: XRAY_OR_LOGS })),
    ...versions(jobMachine, TASK_NAMES),
    ...versions(dispatchMachine, ['PlanMonth']),
    {
      at: dispatchMachine,
      id: 'AwsSolutions-IAM5[Action::kms:GenerateDataKey*]',
      reason: "Granted by the topic's grantPublish, on the topics' own key only.",
    },
    {
      at: dispatchMachine,
      id: awaited(job),
      reason: 'It sees and stops any execution of the job machine that it waits for, and of no other machine.',
    },
  ]
}

/** What CDK grants for executions that are awaited: the job machine's, whose name is a part of its ARN. */
const awaited = (job: Stack): string => {
  const machine = { Ref: job.getLogicalId(child(job, 'Job/StateMachine/Resource') as never) }
  const name = JSON.stringify({ 'Fn::Select': [6, { 'Fn::Split': [':', machine] }] })
  return `AwsSolutions-IAM5[Resource::arn:aws:states:${job.region}:${job.account}:execution:${name}*]`
}

const ofTriggers = (job: Stack): Acknowledged[] => [
  ...['HaltRule/DeadLetters', 'Schedules/DeadLetters', 'Schedules/SweepFailures'].map((path) => ({
    at: child(job, path),
    id: 'AwsSolutions-SQS3',
    reason: 'It keeps what failed itself, and nothing reads it but people.',
  })),
]

const ofOperators = (job: Stack, data: Stack): Acknowledged[] =>
  ['OperatorPolicy', 'ReaderPolicy'].flatMap((policy) => [
    ...['incoming', 'rejected', 'staged'].map((prefix) => ({
      at: child(job, policy),
      id: objects(data, prefix),
      reason: 'Files, reports and staged sources have names that nobody knows beforehand; the prefix is the limit.',
    })),
    ...['Job', 'Dispatch'].map((name) => {
      const id = job.getLogicalId(child(job, `${name}/StateMachine/Resource`) as never)
      return {
        at: child(job, policy),
        id: `AwsSolutions-IAM5[Resource::arn:aws:states:${job.region}:${job.account}:execution:<${id}.Name>:*]`,
        reason: 'People watch and stop any execution of this machine, and of no other.',
      }
    }),
  ])

const ofOnCall = (job: Stack): Acknowledged[] => [
  {
    at: child(job, 'OnCallPolicy'),
    id: 'AwsSolutions-IAM5[Resource::*]',
    reason: 'Alarms, metrics and the results of queries know no resources; they are looked at, and nothing is changed.',
  },
]

/** The acknowledged findings of a stage that is deployed. */
export const acknowledgedOf = ({ data, job }: StageStacks): Acknowledged[] => {
  if (data === undefined) return []
  const replicated = data.stores.deployed !== undefined && data.stores.deployed.lockNodeIds.length > 1
  return [
    ...ofData(data, replicated),
    ...ofFunctions(job, data),
    ...ofMachines(job),
    ...ofTriggers(job),
    ...ofOperators(job, data),
    ...ofOnCall(job),
  ]
}

export const acknowledgeFindings = (stacks: StageStacks): void => {
  if (stacks.data !== undefined)
    // CDK's own check of templates. Looked up instead, the zones would need an account at synthesis.
    Validations.of(child(stacks.data, 'Network')).acknowledge({
      id: 'CloudFormation-Validate::W3010',
      reason: 'The zones are the configuration: they are given, so that synthesis needs no account.',
    })
  for (const { at, id, reason } of acknowledgedOf(stacks)) Validations.of(at).acknowledge({ id, reason })
}
