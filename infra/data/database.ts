import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { InstanceType, type ISecurityGroup, Port, SecurityGroup } from 'aws-cdk-lib/aws-ec2'
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import {
  CaCertificate,
  type CfnDBInstance,
  Credentials,
  DatabaseInstance,
  DatabaseInstanceEngine,
  type IDatabaseInstance,
  MysqlEngineVersion,
  ParameterGroup,
  StorageType,
} from 'aws-cdk-lib/aws-rds'
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Construct } from 'constructs'
import { IDLE_TIMEOUT_S, LOCK_WAIT_TIMEOUT_S } from '../../functions/contract/limits.ts'
import type { AwsStage } from '../config/config.ts'
import { databaseNames } from '../config/stores.ts'
import { quietWindows } from '../config/windows.ts'
import type { Network } from './network.ts'

/** The version that CDK and cfn-lint both know. */
const ENGINE = DatabaseInstanceEngine.mysql({ version: MysqlEngineVersion.VER_8_4_9 })

/** An instance's own; a port of its own would only surprise those who read the month. */
const MYSQL_PORT = 3306

const LOGS = ['error', 'slowquery', 'iam-db-auth-error'] as const

/** The server's settings that the code relies on. */
const parametersOf = (maxConnections: number): Record<string, string> => ({
  // Chunks are loaded with LOAD DATA LOCAL; off, the server answers 3948.
  local_infile: '1',
  require_secure_transport: '1',
  binlog_format: 'ROW',
  transaction_isolation: 'READ-COMMITTED',
  wait_timeout: String(IDLE_TIMEOUT_S),
  innodb_lock_wait_timeout: String(LOCK_WAIT_TIMEOUT_S),
  // Explicit: RDS would compute it from the memory, and the budget of connections is checked against it.
  max_connections: String(maxConnections),
  // Raising a fence finds the connections that block it in performance_schema.
  performance_schema: '1',
  slow_query_log: '1',
  long_query_time: '10',
  log_output: 'FILE',
})

const resourceIdOf = ({ instanceResourceId }: DatabaseInstance): string => {
  if (instanceResourceId === undefined) throw new Error('An instance of our own has a resource id')
  return instanceResourceId
}

/**
 * The job stack that is deployed imports them until it is deployed again, behind this stack: CloudFormation refuses to take
 * them away before.
 */
const keepExports = (scope: Construct, ...values: string[]): void => {
  for (const value of values) Stack.of(scope).exportValue(value)
}

/** MySQL: this stage's own instance, or somebody's. */
export class DatabaseServer extends Construct {
  readonly instance: IDatabaseInstance
  readonly port: number
  readonly group: ISecurityGroup
  readonly environment: Readonly<Record<string, string>>
  /** Name and password of the master user, for the migrator alone. */
  readonly masterSecret: ISecret
  /** `db-...`: whom the functions may log in to. An instance keeps it for life; a restored one has another. */
  readonly resourceId: string
  /** Who the functions log in as; the migrator creates this user for IAM passwords only. */
  private readonly user: string

  constructor(scope: Construct, id: string, config: AwsStage, network: Network) {
    super(scope, id)
    const { stage, database } = config
    if (database.kind === 'new') {
      const instance = this.create(config, database, network)
      if (instance.secret === undefined) throw new Error('RDS was to manage the master secret')
      this.instance = instance
      const own = { resourceId: resourceIdOf(instance), secret: instance.secret }
      const { restored } = database
      if (restored !== undefined) keepExports(this, own.resourceId, own.secret.secretArn)
      this.resourceId = restored?.resourceId ?? own.resourceId
      this.masterSecret =
        restored === undefined
          ? own.secret
          : Secret.fromSecretCompleteArn(this, 'MasterSecret', restored.masterSecretArn)
    } else {
      this.instance = DatabaseInstance.fromDatabaseInstanceAttributes(this, 'Instance', {
        instanceIdentifier: database.identifier,
        instanceEndpointAddress: database.endpoint,
        port: database.port,
        securityGroups: [SecurityGroup.fromSecurityGroupId(this, 'Group', database.securityGroupId)],
        engine: ENGINE,
      })
      this.resourceId = database.resourceId
      this.masterSecret = Secret.fromSecretCompleteArn(this, 'MasterSecret', database.masterSecretArn)
    }
    this.port = database.kind === 'new' ? MYSQL_PORT : database.port
    const [group] = this.instance.connections.securityGroups
    if (group === undefined) throw new Error('The database has a security group')
    this.group = group
    network.functionsGroup.connections.allowTo(this.instance, Port.tcp(this.port), 'MySQL')
    const { schema, user } = databaseNames(stage, database)
    this.user = user
    this.environment = {
      DATABASE_HOST: this.instance.dbInstanceEndpointAddress,
      DATABASE_PORT: this.instance.dbInstanceEndpointPort,
      DATABASE_NAME: schema,
      DATABASE_USER: user,
      DATABASE_AUTH: 'iam',
      DATABASE_TLS: 'verify',
    }
  }

  /**
   * To log in as the functions' user, and as nobody else. CDK's own grant knows the resource id of the instance in the
   * template only.
   */
  grantConnect(grantee: IGrantable): void {
    const arn = Stack.of(this).formatArn({
      service: 'rds-db',
      resource: 'dbuser',
      resourceName: `${this.resourceId}/${this.user}`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    })
    Grant.addToPrincipal({ grantee, actions: ['rds-db:connect'], resourceArns: [arn] })
  }

  private create(
    { stage, schedule, logRetentionDays: retention }: AwsStage,
    values: Extract<AwsStage['database'], { kind: 'new' }>,
    { vpc, subnets }: Network,
  ): DatabaseInstance {
    const instanceIdentifier = `sharelock-${stage}`
    const windows = quietWindows(schedule)
    const instance = new DatabaseInstance(this, 'Instance', {
      instanceIdentifier,
      engine: ENGINE,
      vpc,
      vpcSubnets: { subnets: [...subnets] },
      securityGroups: [
        new SecurityGroup(this, 'Group', {
          vpc,
          description: 'Sharelock MySQL: from the functions',
          allowAllOutbound: false,
        }),
      ],
      instanceType: new InstanceType(values.instanceType),
      multiAz: values.multiAz,
      storageType: StorageType.GP3,
      allocatedStorage: values.storageGib,
      maxAllocatedStorage: values.storageMaxGib,
      storageEncrypted: true,
      credentials: Credentials.fromUsername('sharelock_master'),
      manageMasterUserPassword: true,
      iamAuthentication: true,
      caCertificate: CaCertificate.RDS_CA_RSA2048_G1,
      parameterGroup: new ParameterGroup(this, 'Parameters', {
        engine: ENGINE,
        description: `Sharelock ${stage}`,
        parameters: parametersOf(values.maxConnections),
      }),
      cloudwatchLogsExports: [...LOGS],
      backupRetention: Duration.days(values.backupDays),
      preferredBackupWindow: windows.backup,
      preferredMaintenanceWindow: windows.maintenance,
      deleteAutomatedBackups: false,
      copyTagsToSnapshot: true,
      autoMinorVersionUpgrade: false,
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
    })
    // A moved construct must not become a new, empty database: the logical id is what CloudFormation goes by.
    const resource = instance.node.defaultChild as CfnDBInstance
    resource.overrideLogicalId('Database')
    // RDS would create them itself, without an end.
    for (const log of LOGS)
      instance.node.addDependency(
        new LogGroup(this, `Log-${log}`, {
          logGroupName: `/aws/rds/instance/${instanceIdentifier}/${log}`,
          retention,
          removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        }),
      )
    return instance
  }
}
