import { Duration, Fn, Stack, type StackProps } from 'aws-cdk-lib'
import { Alarm } from 'aws-cdk-lib/aws-cloudwatch'
import { SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2'
import { ManagedPolicy } from 'aws-cdk-lib/aws-iam'
import { Architecture, type Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda'
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources'
import { type ITopic, SubscriptionFilter, Topic } from 'aws-cdk-lib/aws-sns'
import { SqsSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { StringParameter } from 'aws-cdk-lib/aws-ssm'
import type { Construct } from 'constructs'
import { parameterName, type ReaderParameter } from '../config/readers.ts'

export type ConsumerStackProps = StackProps & {
  /** Of Sharelock, in this account and region. */
  readonly stage: string
  /** A handler that reads a month: see docs/reader-access.md for what it does. */
  readonly code: Code
}

const HANDLER_TIMEOUT = Duration.minutes(5)

/**
 * An example to copy: a program of somebody else's that is told when the set of a month was registered or withdrawn, and reads it. It knows nothing of
 * Sharelock's stacks but the names of its parameters, so either can be deployed without the other.
 *
 * topic -> queue (with one for what could not be handled, and an alarm) -> function in the stage's VPC -> MySQL as a reader
 */
export class ConsumerStack extends Stack {
  constructor(scope: Construct, id: string, { stage, code, ...props }: ConsumerStackProps) {
    super(scope, id, props)
    const parameter = (name: ReaderParameter) =>
      StringParameter.valueForStringParameter(this, parameterName(stage, name))
    const entries = (name: ReaderParameter) => [0, 1].map((index) => Fn.select(index, Fn.split(',', parameter(name))))
    const vpc = Vpc.fromVpcAttributes(this, 'Vpc', {
      vpcId: parameter('network/vpc'),
      availabilityZones: entries('network/zones'),
      isolatedSubnetIds: entries('network/subnets'),
    })
    const handler = new LambdaFunction(this, 'ReadMonth', {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code,
      timeout: HANDLER_TIMEOUT,
      memorySize: 1_024,
      vpc,
      vpcSubnets: { subnets: vpc.isolatedSubnets },
      // What the database lets in; it needs no other way out, for the queue is read by Lambda and not by the function.
      securityGroups: [SecurityGroup.fromSecurityGroupId(this, 'Readers', parameter('readers/group'))],
      environment: {
        DATABASE_HOST: parameter('database/host'),
        DATABASE_PORT: parameter('database/port'),
        DATABASE_NAME: parameter('database/schema'),
        DATABASE_USER: parameter('database/user'),
      },
    })
    handler.role?.addManagedPolicy(ManagedPolicy.fromManagedPolicyArn(this, 'MayRead', parameter('readers/policy')))
    handler.addEventSource(new SqsEventSource(this.subscribe(parameter('events/topic')), { batchSize: 1 }))
  }

  /** What changes the set that is read, as it is: without SNS's envelope. An event may come twice, and in any order. */
  private subscribe(topicArn: string): Queue {
    const common = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, retentionPeriod: Duration.days(14) }
    const failed = new Queue(this, 'Failed', common)
    const queue = new Queue(this, 'Registered', {
      ...common,
      // As AWS advises: six times the function's time.
      visibilityTimeout: Duration.minutes(6 * HANDLER_TIMEOUT.toMinutes()),
      deadLetterQueue: { queue: failed, maxReceiveCount: 5 },
    })
    const topic: ITopic = Topic.fromTopicArn(this, 'Events', topicArn)
    topic.addSubscription(
      new SqsSubscription(queue, {
        rawMessageDelivery: true,
        filterPolicy: { type: SubscriptionFilter.stringFilter({ allowlist: ['JobRegistered', 'JobWithdrawn'] }) },
      }),
    )
    new Alarm(this, 'NotRead', {
      metric: failed.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum' }),
      threshold: 1,
      evaluationPeriods: 1,
    })
    return queue
  }
}
