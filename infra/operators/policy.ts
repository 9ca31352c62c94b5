import { ArnFormat, Stack } from 'aws-cdk-lib'
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import type { Construct } from 'constructs'
import { regionalName } from './regional-name.ts'

/** The functions that operators call. */
export type OperatorName = 'Inspect' | 'Operate'

export type OperatorPolicyProps = {
  readonly stage: string
  readonly bucket: IBucket
  readonly machines: readonly StateMachine[]
  readonly functions: Readonly<Record<OperatorName, IFunction>>
}

/** What operators and readers see of the bucket: files, reject reports, and the sets that a new file is compared with. */
const PREFIXES = ['incoming', 'rejected', 'staged'].map((prefix) => `${prefix}/*`)

/**
 * Two policies for roles or groups of your own: `sharelock-<stage>-<region>-reader` looks at everything and changes nothing;
 * `sharelock-<stage>-<region>-operator` does all that the operators' command can. Not redriving: an execution that halted is resumed
 * by a new one, which meets the job as everybody does.
 *
 * @returns the operator's
 */
export const addOperatorPolicies = (scope: Construct, props: OperatorPolicyProps): ManagedPolicy => {
  const { stage } = props
  const { region } = Stack.of(scope)
  new ManagedPolicy(scope, 'ReaderPolicy', {
    managedPolicyName: regionalName(stage, region, 'reader'),
    description: `Look at the jobs of Sharelock ${stage}, change nothing`,
    statements: reading(scope, props),
  })
  return new ManagedPolicy(scope, 'OperatorPolicy', {
    managedPolicyName: regionalName(stage, region, 'operator'),
    description: `Start, watch and stop the jobs of Sharelock ${stage}`,
    statements: [...reading(scope, props), ...changing(scope, props)],
  })
}

const reading = (scope: Construct, { bucket, machines, functions }: OperatorPolicyProps): PolicyStatement[] => [
  // By its plain name, as operators call it: no version and no alias.
  new PolicyStatement({
    sid: 'Inspect',
    actions: ['lambda:InvokeFunction'],
    resources: [functions.Inspect.functionArn],
  }),
  new PolicyStatement({
    sid: 'FindExecutions',
    actions: ['states:ListExecutions', 'states:DescribeStateMachine'],
    resources: machines.map(({ stateMachineArn }) => stateMachineArn),
  }),
  new PolicyStatement({
    sid: 'Watch',
    actions: ['states:DescribeExecution', 'states:GetExecutionHistory'],
    resources: executionsOf(scope, machines),
  }),
  new PolicyStatement({
    sid: 'ReadFilesAndReports',
    actions: ['s3:GetObject'],
    resources: PREFIXES.map((prefix) => bucket.arnForObjects(prefix)),
  }),
  new PolicyStatement({
    sid: 'FindFilesAndReports',
    actions: ['s3:ListBucket'],
    resources: [bucket.bucketArn],
    conditions: { StringLike: { 's3:prefix': PREFIXES } },
  }),
]

const changing = (scope: Construct, { bucket, machines, functions }: OperatorPolicyProps): PolicyStatement[] => [
  new PolicyStatement({
    sid: 'Operate',
    actions: ['lambda:InvokeFunction'],
    resources: [functions.Operate.functionArn],
  }),
  new PolicyStatement({
    sid: 'Start',
    actions: ['states:StartExecution'],
    resources: machines.map(({ stateMachineArn }) => stateMachineArn),
  }),
  new PolicyStatement({
    sid: 'Stop',
    actions: ['states:StopExecution'],
    resources: executionsOf(scope, machines),
  }),
  new PolicyStatement({
    sid: 'Upload',
    actions: ['s3:PutObject'],
    resources: [bucket.arnForObjects('incoming/*')],
  }),
]

/** Executions have names of their own; these are those of the two machines only. */
const executionsOf = (scope: Construct, machines: readonly StateMachine[]): string[] =>
  machines.map((machine) =>
    Stack.of(scope).formatArn({
      service: 'states',
      resource: `execution:${machine.stateMachineName}`,
      resourceName: '*',
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    }),
  )
