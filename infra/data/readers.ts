import { ArnFormat, Stack } from 'aws-cdk-lib'
import { type ISecurityGroup, Peer, Port, SecurityGroup } from 'aws-cdk-lib/aws-ec2'
import { AccountPrincipal, ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { StringParameter } from 'aws-cdk-lib/aws-ssm'
import { Construct } from 'constructs'
import type { AwsStage } from '../config/config.ts'
import { parameterName, READER_PARAMETERS, type ReaderParameter } from '../config/readers.ts'
import { databaseNames } from '../config/stores.ts'
import { regionalName } from '../operators/regional-name.ts'
import type { DatabaseServer } from './database.ts'
import type { Messaging } from './messaging.ts'
import type { Network } from './network.ts'

export type ReadersProps = {
  readonly config: AwsStage
  readonly network: Network
  readonly database: DatabaseServer
  readonly messaging: Messaging
}

/**
 * The way in for programs that read a month: a security group of their own, those that the configuration names, a policy to
 * log in as a user who may read the views, and all of it under names that another stack can look up.
 * See docs/reader-access.md.
 */
export class Readers extends Construct {
  constructor(scope: Construct, id: string, props: ReadersProps) {
    super(scope, id)
    const { config, network, database, messaging } = props
    const group = new SecurityGroup(this, 'Group', {
      vpc: network.vpc,
      description: 'Sharelock: programs that read the month',
      allowAllOutbound: false,
    })
    group.connections.allowTo(database.instance, Port.tcp(database.port), 'MySQL')
    this.letIn(props)
    this.letSubscribe(config.readers.accounts, messaging)
    this.publish(config, {
      ...this.databaseValues(config, database),
      'readers/group': group.securityGroupId,
      'readers/policy': this.addPolicy(config, database).managedPolicyArn,
      'network/vpc': network.vpc.vpcId,
      'network/subnets': network.subnets.map(({ subnetId }) => subnetId).join(','),
      'network/zones': config.network.zones.join(','),
      'events/topic': messaging.events.topicArn,
      'events/key': messaging.key.keyArn,
    })
  }

  private databaseValues({ stage, database: values }: AwsStage, { instance, resourceId, port, group }: DatabaseServer) {
    const { schema, reader } = databaseNames(stage, values)
    return {
      'database/host': instance.dbInstanceEndpointAddress,
      'database/port': String(port),
      'database/schema': schema,
      'database/user': reader,
      'database/resource-id': resourceId,
      'database/group': group.securityGroupId,
    }
  }

  /** Who comes in to the database besides the functions. */
  private letIn({ config: { readers }, database }: ReadersProps): void {
    const port = Port.tcp(database.port)
    for (const cidr of readers.cidrs) database.instance.connections.allowFrom(Peer.ipv4(cidr), port, 'readers')
    for (const groupId of readers.groups) {
      // Their side is theirs: only the database's group is changed.
      const theirs = SecurityGroup.fromSecurityGroupId(this, groupId, groupId, { mutable: false }) as ISecurityGroup
      database.instance.connections.allowFrom(theirs, port, 'readers')
    }
  }

  /** A subscription in another account needs the topic's leave. What is delivered is not encrypted with our key any more. */
  private letSubscribe(accounts: readonly string[], { events }: Messaging): void {
    if (accounts.length === 0) return
    events.addToResourcePolicy(
      new PolicyStatement({
        sid: 'Subscribe',
        principals: accounts.map((account) => new AccountPrincipal(account)),
        actions: ['sns:Subscribe'],
        resources: [events.topicArn],
        // Programs only: an e-mail address would be a person outside.
        conditions: { StringEquals: { 'sns:Protocol': ['sqs', 'lambda', 'firehose'] } },
      }),
    )
  }

  private addPolicy({ stage, database: values }: AwsStage, { resourceId }: DatabaseServer): ManagedPolicy {
    const stack = Stack.of(this)
    const { reader } = databaseNames(stage, values)
    return new ManagedPolicy(this, 'Policy', {
      managedPolicyName: regionalName(stage, stack.region, 'settlement'),
      description: `Read the registered months of Sharelock ${stage} in MySQL`,
      statements: [
        new PolicyStatement({
          actions: ['rds-db:connect'],
          resources: [
            stack.formatArn({
              service: 'rds-db',
              resource: 'dbuser',
              resourceName: `${resourceId}/${reader}`,
              arnFormat: ArnFormat.COLON_RESOURCE_NAME,
            }),
          ],
        }),
      ],
    })
  }

  private publish({ stage }: AwsStage, values: Record<ReaderParameter, string>): void {
    for (const [name, value] of Object.entries(values) as [ReaderParameter, string][])
      new StringParameter(this, name.replace('/', '-'), {
        parameterName: parameterName(stage, name),
        description: `Sharelock ${stage}: ${READER_PARAMETERS[name]}`,
        stringValue: value,
      })
  }
}
