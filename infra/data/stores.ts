import type { ISecurityGroup, IVpc, SubnetSelection } from 'aws-cdk-lib/aws-ec2'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3'
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager'
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'

/**
 * What the functions need of the stores, no matter who made them: this project, somebody before it, or the local stack.
 */
export type Stores = {
  /** The variables of contract/env.ts that say where the stores are and how to log in. */
  readonly environment: Readonly<Record<string, string>>
  readonly bucket: IBucket
  /** Where the outbox is published to. */
  readonly topic: ITopic
  /** Where people are told: alarms, and the distributors without a file. */
  readonly notices: ITopic
  /** Absent where the stores are not in a VPC. */
  readonly network?: {
    readonly vpc: IVpc
    readonly vpcSubnets: SubnetSelection
    readonly securityGroups: ISecurityGroup[]
  }
  readonly grantDatabase: (fn: IFunction) => void
  readonly grantLock: (fn: IFunction) => void
  /** Absent where nothing is deployed: what migration, triggers and alarms are attached to. */
  readonly deployed?: Deployed
}

export type Deployed = {
  readonly masterSecret: ISecret
  readonly databaseIdentifier: string
  readonly databaseResourceId: string
  /** Whom the migrator lets read the months. */
  readonly readerUser: string
  readonly lockNodeIds: readonly string[]
  /** Where people are woken. */
  readonly pages: ITopic
}

/**
 * Names without anything behind them: the local stack takes the definition and the bundles from the template and gives
 * each function the addresses of its own servers. Nothing of this is ever deployed.
 */
export const localStores = (scope: Construct): Stores => {
  const topicOf = (id: string, name: string) =>
    Topic.fromTopicArn(scope, id, `arn:aws:sns:ap-northeast-2:000000000000:${name}`)
  return {
    environment: {
      DATABASE_HOST: 'localhost',
      DATABASE_USER: 'sharelock_app',
      DATABASE_AUTH: 'password',
      LOCK_HOST: 'localhost',
      LOCK_AUTH: 'none',
    },
    bucket: Bucket.fromBucketName(scope, 'Bucket', 'sharelock-local'),
    topic: topicOf('Topic', 'sharelock-local'),
    notices: topicOf('Notices', 'sharelock-local-notices'),
    grantDatabase: () => {},
    grantLock: () => {},
  }
}
