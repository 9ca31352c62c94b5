import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import type { Construct } from 'constructs'
import type { AwsStage } from '../config/config.ts'
import { databaseNames } from '../config/stores.ts'
import { DatabaseServer } from '../data/database.ts'
import { narrowEndpoints } from '../data/endpoint-policies.ts'
import { LockGroup } from '../data/lock-group.ts'
import { Messaging } from '../data/messaging.ts'
import { Network } from '../data/network.ts'
import { Readers } from '../data/readers.ts'
import { Storage } from '../data/storage.ts'
import type { Stores } from '../data/stores.ts'

export type DataStackProps = StackProps & { readonly config: AwsStage }

/**
 * The stateful half of a stage: network, database, locks, files, messages. What holds data is retained when its resource
 * or the stack goes, and keeps its logical id whatever moves in this code.
 */
export class DataStack extends Stack {
  readonly stores: Stores
  readonly bucketName: CfnOutput
  private readonly zones: string[]

  constructor(scope: Construct, id: string, { config, ...props }: DataStackProps) {
    super(scope, id, { ...props, terminationProtection: true })
    this.zones = [...config.network.zones]
    const network = new Network(this, 'Network', config)
    const database = new DatabaseServer(this, 'Database', config, network)
    const lock = new LockGroup(this, 'Lock', config, network)
    const storage = new Storage(this, 'Storage')
    const bucket = storage.bucket as IBucket
    this.bucketName = new CfnOutput(this, 'BucketName', { value: bucket.bucketName })
    const messaging = new Messaging(this, 'Messaging', config)
    new Readers(this, 'Readers', { config, network, database, messaging })
    // Last, for a first deployment that fails can't take a protected database back: see docs/deployments.md.
    database.node.addDependency(lock, storage, messaging)
    narrowEndpoints(network.endpoints, {
      bucket,
      topic: messaging.events,
      secret: database.masterSecret,
      account: config.account,
      isShared: config.network.kind === 'existing',
    })
    this.stores = {
      environment: { ...database.environment, ...lock.environment, ...network.environment },
      bucket,
      topic: messaging.events,
      notices: messaging.notices,
      network: {
        vpc: network.vpc,
        vpcSubnets: { subnets: [...network.subnets] },
        securityGroups: [network.functionsGroup],
      },
      grantDatabase: (fn: IFunction) => database.grantConnect(fn),
      grantLock: (fn: IFunction) => lock.grantConnect(fn),
      deployed: {
        masterSecret: database.masterSecret,
        databaseIdentifier: database.instance.instanceIdentifier,
        databaseResourceId: database.resourceId,
        readerUser: databaseNames(config.stage, config.database).reader,
        lockNodeIds: lock.nodeIds,
        pages: messaging.pages,
      },
    }
  }

  /** CDK would look them up in the account, even for a VPC that names its own. */
  override get availabilityZones(): string[] {
    return this.zones
  }
}
