import { Stack } from 'aws-cdk-lib'
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { regionalName } from './regional-name.ts'

export type OnCallPolicyProps = {
  readonly stage: string
  readonly functions: readonly (IFunction & { readonly logGroup: ILogGroup })[]
  readonly queues: readonly IQueue[]
}

/**
 * `sharelock-<stage>-<region>-on-call`: what docs/runbook.md looks at besides the command, for whoever is called: alarms and
 * metrics, the functions' logs, and the queues with what was not handled, whose messages are deleted when they are done with.
 */
export const addOnCallPolicy = (scope: Construct, { stage, functions, queues }: OnCallPolicyProps): ManagedPolicy =>
  new ManagedPolicy(scope, 'OnCallPolicy', {
    managedPolicyName: regionalName(stage, Stack.of(scope).region, 'on-call'),
    description: `Follow the runbook of Sharelock ${stage}`,
    statements: [
      new PolicyStatement({
        sid: 'Logs',
        actions: ['logs:FilterLogEvents', 'logs:GetLogEvents', 'logs:StartQuery'],
        resources: functions.map(({ logGroup }) => logGroup.logGroupArn),
      }),
      new PolicyStatement({
        sid: 'Queues',
        actions: ['sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:GetQueueUrl', 'sqs:ReceiveMessage'],
        resources: queues.map(({ queueArn }) => queueArn),
      }),
      new PolicyStatement({
        sid: 'Metrics',
        actions: [
          ...['cloudwatch:DescribeAlarms', 'cloudwatch:GetDashboard', 'cloudwatch:GetMetricData'],
          ...['cloudwatch:ListMetrics', 'logs:DescribeLogGroups', 'logs:GetQueryResults'],
        ],
        resources: ['*'],
      }),
    ],
  })
