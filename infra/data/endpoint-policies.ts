import { GatewayVpcEndpoint } from 'aws-cdk-lib/aws-ec2'
import { AnyPrincipal, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { Endpoints } from './network.ts'

type Owned = {
  readonly bucket: IBucket
  readonly topic: ITopic
  readonly secret: ISecret
  readonly account: string
  /** A gateway in somebody's VPC is a way for others too, so its policy stays as open as AWS makes it. */
  readonly isShared: boolean
}

/**
 * Through the endpoints only this stage's own bucket, topic and secret are reached, by this account's own principals:
 * data can not leave through them to somebody else's. What a function may do there its role says.
 */
export const narrowEndpoints = (
  { s3, sns, secretsManager }: Endpoints,
  { bucket, topic, secret, account, isShared }: Owned,
): void => {
  const statement = (actions: string[], resources: string[]) =>
    new PolicyStatement({
      // An endpoint's policy names no roles: the condition holds for every caller.
      principals: [new AnyPrincipal()],
      actions,
      resources,
      conditions: { StringEquals: { 'aws:PrincipalAccount': account } },
    })
  if (s3 !== undefined && !(isShared && s3 instanceof GatewayVpcEndpoint)) {
    s3.addToPolicy(
      statement(
        ['s3:GetObject*', 's3:PutObject*', 's3:AbortMultipartUpload', 's3:ListMultipartUploadParts'],
        [bucket.arnForObjects('*')],
      ),
    )
    // Without ListBucket, a missing object reads as forbidden.
    s3.addToPolicy(statement(['s3:ListBucket', 's3:GetBucket*'], [bucket.bucketArn]))
  }
  sns?.addToPolicy(statement(['sns:Publish'], [topic.topicArn]))
  secretsManager?.addToPolicy(
    statement(['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret'], [secret.secretArn]),
  )
}
