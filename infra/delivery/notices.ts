import { type Pipeline, PipelineNotificationEvents } from 'aws-cdk-lib/aws-codepipeline'
import { DetailType } from 'aws-cdk-lib/aws-codestarnotifications'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Construct } from 'constructs'

/** Tells people when the pipeline failed, and when it waits for one of them. */
export class PipelineNotices extends Construct {
  constructor(scope: Construct, id: string, pipeline: Pipeline, emails: readonly string[]) {
    super(scope, id)
    const topic = new Topic(this, 'Topic', { enforceSSL: true })
    for (const email of emails) topic.addSubscription(new EmailSubscription(email))
    pipeline.notifyOn('Notices', topic, {
      detailType: DetailType.FULL,
      events: [
        PipelineNotificationEvents.PIPELINE_EXECUTION_FAILED,
        PipelineNotificationEvents.MANUAL_APPROVAL_NEEDED,
        PipelineNotificationEvents.MANUAL_APPROVAL_FAILED,
      ],
    })
  }
}
