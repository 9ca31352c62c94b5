import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { type ISecurityGroup, Port, SecurityGroup } from 'aws-cdk-lib/aws-ec2'
import {
  CfnParameterGroup,
  CfnReplicationGroup,
  CfnSubnetGroup,
  CfnUser,
  CfnUserGroup,
} from 'aws-cdk-lib/aws-elasticache'
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import type { AwsStage } from '../config/config.ts'
import { accessString } from '../config/lock-access.ts'
import { lockPrefix } from '../config/stores.ts'
import { quietWindows } from '../config/windows.ts'
import type { Network } from './network.ts'

/** ElastiCache's newest Valkey of the 8 family; neither CDK nor cfn-lint checks it, so a test does. */
const VALKEY_VERSION = '8.1'

/** ElastiCache's own. */
const VALKEY_PORT = 6379

/**
 * Valkey, for locks and nothing else: a neighbour's keys could fill it, and an evicted lock is a lost one. Nothing is
 * kept in snapshots, for a lock that comes back from one was somebody's long ago.
 */
export class LockGroup extends Construct {
  readonly groupId: string
  readonly environment: Readonly<Record<string, string>>
  /** Ids of the nodes, which CloudWatch's metrics go by. */
  readonly nodeIds: readonly string[]
  private readonly user: string

  constructor(scope: Construct, id: string, { stage, lock, schedule }: AwsStage, network: Network) {
    super(scope, id)
    const address = lock.kind === 'new' ? this.create({ stage, schedule }, lock, network) : this.use(lock)
    this.groupId = address.groupId
    this.user = address.user
    this.nodeIds = address.nodeIds
    network.functionsGroup.connections.allowTo(address.group, Port.tcp(address.listensOn), 'Valkey')
    this.environment = {
      LOCK_HOST: address.host,
      LOCK_PORT: address.port,
      LOCK_USER: this.user,
      LOCK_AUTH: 'iam',
      LOCK_GROUP_ID: this.groupId,
      LOCK_TLS: 'verify',
      LOCK_PREFIX: lockPrefix(stage),
    }
  }

  /** To log in as the locks' user: IAM asks for both the group and the user. */
  grantConnect(grantee: IGrantable): void {
    const arn = (resource: string, resourceName: string) =>
      Stack.of(this).formatArn({
        service: 'elasticache',
        resource,
        resourceName,
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      })
    Grant.addToPrincipal({
      grantee,
      actions: ['elasticache:Connect'],
      resourceArns: [arn('replicationgroup', this.groupId), arn('user', this.user)],
    })
  }

  private use(lock: Extract<AwsStage['lock'], { kind: 'existing' }>) {
    return {
      groupId: lock.groupId,
      user: lock.user,
      host: lock.endpoint,
      port: String(lock.port),
      listensOn: lock.port,
      nodeIds: lock.nodeIds,
      group: SecurityGroup.fromSecurityGroupId(this, 'Group', lock.securityGroupId) as ISecurityGroup,
    }
  }

  private create(
    { stage, schedule }: Pick<AwsStage, 'stage' | 'schedule'>,
    { nodeType, nodes }: Extract<AwsStage['lock'], { kind: 'new' }>,
    { vpc, subnets }: Network,
  ) {
    const name = `sharelock-${stage}`
    const group = new SecurityGroup(this, 'Group', {
      vpc,
      description: 'Sharelock Valkey: from the functions',
      allowAllOutbound: false,
    })
    const user = new CfnUser(this, 'User', {
      engine: 'valkey',
      // IAM asks that both are the same.
      userId: name,
      userName: name,
      accessString: accessString(stage),
      authenticationMode: { Type: 'iam' },
    })
    const users = new CfnUserGroup(this, 'Users', { engine: 'valkey', userGroupId: name, userIds: [user.ref] })
    const parameters = new CfnParameterGroup(this, 'Parameters', {
      cacheParameterGroupFamily: 'valkey8',
      description: `Sharelock ${stage}: locks are never evicted`,
      properties: { 'maxmemory-policy': 'noeviction' },
    })
    const subnetGroup = new CfnSubnetGroup(this, 'Subnets', {
      description: `Sharelock ${stage}: isolated subnets`,
      subnetIds: subnets.map(({ subnetId }) => subnetId),
    })
    const replicated = nodes > 1
    const resource = new CfnReplicationGroup(this, 'Resource', {
      replicationGroupId: name,
      replicationGroupDescription: `Sharelock ${stage}: locks of slices`,
      engine: 'valkey',
      engineVersion: VALKEY_VERSION,
      cacheNodeType: nodeType,
      numCacheClusters: nodes,
      automaticFailoverEnabled: replicated,
      multiAzEnabled: replicated,
      cacheSubnetGroupName: subnetGroup.ref,
      cacheParameterGroupName: parameters.ref,
      securityGroupIds: [group.securityGroupId],
      transitEncryptionEnabled: true,
      transitEncryptionMode: 'required',
      atRestEncryptionEnabled: true,
      userGroupIds: [users.ref],
      snapshotRetentionLimit: 0,
      preferredMaintenanceWindow: quietWindows(schedule).maintenance,
      autoMinorVersionUpgrade: true,
    })
    resource.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    resource.overrideLogicalId('LockGroup')
    return {
      groupId: name,
      user: name,
      host: resource.attrPrimaryEndPointAddress,
      port: resource.attrPrimaryEndPointPort,
      listensOn: VALKEY_PORT,
      nodeIds: Array.from({ length: nodes }, (_, index) => `${name}-${String(index + 1).padStart(3, '0')}`),
      group: group as ISecurityGroup,
    }
  }
}
