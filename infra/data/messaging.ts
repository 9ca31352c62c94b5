import { RemovalPolicy } from 'aws-cdk-lib'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { type CfnTopic, Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'
import type { AwsStage } from '../config/config.ts'

/**
 * Three topics under one key: events are for programs (docs/events.md), notices for people, pages for those who are woken. What
 * is delivered is not encrypted with it any more: a subscriber in another account needs the topic only.
 */
export class Messaging extends Construct {
  readonly events: Topic
  readonly notices: Topic
  readonly pages: Topic
  readonly key: Key

  constructor(scope: Construct, id: string, { account, alarms }: Pick<AwsStage, 'account' | 'alarms'>) {
    super(scope, id)
    const masterKey = new Key(this, 'Key', {
      description: 'Sharelock: topics',
      enableKeyRotation: true,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    })
    this.key = masterKey
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
    this.notices = this.addAlarmTopic('Notices', { masterKey, account, emails: alarms.emails })
    this.pages = this.addAlarmTopic('Pages', { masterKey, account, emails: alarms.page.emails })
  }

  private addAlarmTopic(
    name: string,
    { masterKey, account, emails }: { masterKey: Key; account: string; emails: readonly string[] },
  ): Topic {
    const topic = new Topic(this, name, { masterKey, enforceSSL: true })
    // A topic with a policy of its own has lost the default one, which let the account's alarms in.
    topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': account } },
      }),
    )
    for (const email of emails) topic.addSubscription(new EmailSubscription(email))
    return topic
  }
}
