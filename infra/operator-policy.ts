import { ArnFormat, Stack } from 'aws-cdk-lib'
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions'
import type { Construct } from 'constructs'

export type OperatorPolicyProps = {
  readonly stage: string
  readonly bucket: IBucket
  readonly jobMachine: StateMachine
  readonly dispatchMachine: StateMachine
}

/**
 * What an operator needs, for a role or group of your own: upload a file, start, watch, stop, read a reject report. Not
 * redriving: an execution that halted is resumed by a new one, which meets the job as everybody does.
 */
export const addOperatorPolicy = (
  scope: Construct,
  { stage, bucket, jobMachine, dispatchMachine }: OperatorPolicyProps,
): ManagedPolicy => {
  const machines = [jobMachine, dispatchMachine]
  const executions = machines.map((machine) =>
    Stack.of(scope).formatArn({
      service: 'states',
      resource: `execution:${machine.stateMachineName}`,
      resourceName: '*',
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    }),
  )
  return new ManagedPolicy(scope, 'OperatorPolicy', {
    managedPolicyName: `sharelock-${stage}-operator`,
    description: `Start, watch and stop the jobs of Sharelock ${stage}`,
    statements: [
      new PolicyStatement({
        sid: 'Start',
        actions: ['states:StartExecution', 'states:ListExecutions', 'states:DescribeStateMachine'],
        resources: machines.map(({ stateMachineArn }) => stateMachineArn),
      }),
      new PolicyStatement({
        sid: 'WatchAndStop',
        actions: ['states:DescribeExecution', 'states:GetExecutionHistory', 'states:StopExecution'],
        // Executions have names of their own; these are those of the two machines only.
        resources: executions,
      }),
      new PolicyStatement({
        sid: 'Upload',
        actions: ['s3:PutObject'],
        resources: [bucket.arnForObjects('incoming/*')],
      }),
      new PolicyStatement({
        sid: 'ReadFilesAndReports',
        actions: ['s3:GetObject'],
        resources: [bucket.arnForObjects('incoming/*'), bucket.arnForObjects('rejected/*')],
      }),
      new PolicyStatement({
        sid: 'FindFilesAndReports',
        actions: ['s3:ListBucket'],
        resources: [bucket.bucketArn],
        conditions: { StringLike: { 's3:prefix': ['incoming/*', 'rejected/*'] } },
      }),
    ],
  })
}
