import { RemovalPolicy } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { type CfnTopic, Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'

/**
 * Two topics under one key: events are for programs (docs/events.md), notices for people. A subscriber in another account
 * needs the key as well as the topic.
 */
export class Messaging extends Construct {
  readonly events: Topic
  readonly notices: Topic

  constructor(scope: Construct, id: string, account: string, emails: readonly string[]) {
    super(scope, id)
    const masterKey = new Key(this, 'Key', {
      description: 'Sharelock: topics',
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    })
    // Without it an alarm is raised and nobody hears: CloudWatch publishes under its own name.
    masterKey.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        // In a key's own policy, the resource is the key.
        resources: ['*'],
      }),
    )
    this.events = new Topic(this, 'Events', { masterKey, enforceSSL: true })
    ;(this.events.node.defaultChild as CfnTopic).overrideLogicalId('EventsTopic')
    this.events.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    this.notices = new Topic(this, 'Notices', { masterKey, enforceSSL: true })
    // A topic with a policy of its own has lost the default one, which let the account's alarms in.
    this.notices.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.notices.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': account } },
      }),
    )
    for (const email of emails) this.notices.addSubscription(new EmailSubscription(email))
  }
}
