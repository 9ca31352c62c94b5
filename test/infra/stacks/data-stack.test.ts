import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Match, type Template } from 'aws-cdk-lib/assertions'
import { beforeAll, describe, expect, test } from 'vitest'
import { lockKey } from '../../../functions/contract/words.ts'
import { accessString, LOCK_COMMANDS } from '../../../infra/config/lock-access.ts'
import { stageConfig } from '../../../infra/config/stages.ts'
import { lockPrefix } from '../../../infra/config/stores.ts'
import { deployed, EXISTING } from '../existing.ts'
import { stageTemplates } from '../synth.ts'

let template: Template
beforeAll(() => {
  template = stageTemplates('prod').data
}, 120_000)

type Resource = { readonly Type: string; readonly DeletionPolicy?: string; readonly UpdateReplacePolicy?: string }

describe('what holds data', () => {
  /** CloudFormation takes a new logical id for a new, empty store: these never change. */
  const PINNED = {
    Database: 'AWS::RDS::DBInstance',
    LockGroup: 'AWS::ElastiCache::ReplicationGroup',
    Bucket: 'AWS::S3::Bucket',
    EventsTopic: 'AWS::SNS::Topic',
  }

  test.each(Object.entries(PINNED))('%s keeps its logical id and outlives its stack', (id, type) => {
    const resource = template.toJSON().Resources[id] as Resource | undefined
    expect(resource).toMatchObject({
      Type: type,
      // Not on its creation: a first deployment that failed could not be repeated beside what it left.
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
    })
  })
})

test('the database comes last: its protection would hold it when a first deployment fails', () => {
  const { DependsOn } = template.toJSON().Resources.Database
  for (const id of ['LockGroup', 'Bucket', 'EventsTopic']) expect(DependsOn).toContain(id)
})

describe('the network', () => {
  test('has isolated subnets only: no way to the internet, no NAT', () => {
    for (const type of ['NatGateway', 'InternetGateway', 'Route', 'EgressOnlyInternetGateway'])
      template.resourceCountIs(`AWS::EC2::${type}`, 0)
    template.allResourcesProperties('AWS::EC2::Subnet', { MapPublicIpOnLaunch: false })
  })

  test('has three endpoints; those that cost are in one zone', () => {
    template.resourceCountIs('AWS::EC2::VPCEndpoint', 3)
    const interfaces = template.findResources('AWS::EC2::VPCEndpoint', { Properties: { VpcEndpointType: 'Interface' } })
    expect(Object.values(interfaces).map(({ Properties }) => Properties.SubnetIds.length)).toEqual([1, 1])
  })

  test('has endpoint policies that name the own bucket, topic and secret, and this account', () => {
    for (const { Properties } of Object.values(template.findResources('AWS::EC2::VPCEndpoint'))) {
      const { account } = deployed({ ...EXISTING, account: '333333333333' })
      for (const statement of Properties.PolicyDocument.Statement) {
        expect(statement.Condition).toEqual({ StringEquals: { 'aws:PrincipalAccount': account } })
        expect(JSON.stringify(statement.Resource)).toMatch(/"(Bucket|EventsTopic|Database)"/)
      }
    }
  })
})

describe('the database', () => {
  test('is encrypted, in two zones, backed up, protected, and asks for IAM and a master secret of its own', () => {
    template.hasResourceProperties('AWS::RDS::DBInstance', {
      Engine: 'mysql',
      EngineVersion: '8.4.9',
      MultiAZ: true,
      StorageEncrypted: true,
      StorageType: 'gp3',
      EnableIAMDatabaseAuthentication: true,
      ManageMasterUserPassword: true,
      MasterUserPassword: Match.absent(),
      DeletionProtection: true,
      BackupRetentionPeriod: 14,
      PubliclyAccessible: false,
      CACertificateIdentifier: 'rds-ca-rsa2048-g1',
      EnableCloudwatchLogsExports: ['error', 'slowquery', 'iam-db-auth-error'],
    })
  })

  test('and Valkey are backed up and maintained half a day away from the dispatch, at 02:00 in Seoul', () => {
    template.hasResourceProperties('AWS::RDS::DBInstance', {
      PreferredBackupWindow: '05:00-06:00',
      PreferredMaintenanceWindow: 'sun:06:00-sun:07:00',
    })
    template.hasResourceProperties('AWS::ElastiCache::ReplicationGroup', {
      PreferredMaintenanceWindow: 'sun:06:00-sun:07:00',
    })
  })

  test('has the settings that the code relies on', () => {
    const config = stageConfig('prod')
    const maxConnections = config.kind === 'aws' ? String(config.database.maxConnections) : ''
    template.hasResourceProperties('AWS::RDS::DBParameterGroup', {
      Family: 'mysql8.4',
      Parameters: {
        local_infile: '1',
        require_secure_transport: '1',
        binlog_format: 'ROW',
        transaction_isolation: 'READ-COMMITTED',
        performance_schema: '1',
        wait_timeout: '600',
        innodb_lock_wait_timeout: '10',
        max_connections: maxConnections,
      },
    })
  })
})

describe('the lock group', () => {
  test('is a Valkey 8 in two zones under TLS, without snapshots, and never evicts', () => {
    template.hasResourceProperties('AWS::ElastiCache::ReplicationGroup', {
      Engine: 'valkey',
      // Checked by nobody else: 8.1 is the newest that ElastiCache has in the family valkey8.
      EngineVersion: '8.1',
      ReplicationGroupId: 'sharelock-prod',
      NumCacheClusters: 2,
      AutomaticFailoverEnabled: true,
      MultiAZEnabled: true,
      TransitEncryptionEnabled: true,
      TransitEncryptionMode: 'required',
      AtRestEncryptionEnabled: true,
      SnapshotRetentionLimit: 0,
    })
    template.hasResourceProperties('AWS::ElastiCache::ParameterGroup', {
      CacheParameterGroupFamily: 'valkey8',
      Properties: { 'maxmemory-policy': 'noeviction' },
    })
  })

  test('lets in one user, by IAM, and not the default one', () => {
    template.hasResourceProperties('AWS::ElastiCache::User', {
      Engine: 'valkey',
      UserId: 'sharelock-prod',
      UserName: 'sharelock-prod',
      AuthenticationMode: { Type: 'iam' },
      AccessString: accessString('prod'),
    })
    template.resourceCountIs('AWS::ElastiCache::User', 1)
    template.hasResourceProperties('AWS::ElastiCache::UserGroup', { UserIds: [Match.anyValue()] })
  })

  test('allows exactly the commands of the scripts, and EVAL to run them', () => {
    const folder = 'functions/store/lock'
    const scripts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
    const called = scripts.flatMap((text) => [...text.matchAll(/redis\.call\('(\w+)'/g)].map((match) => match[1] ?? ''))
    expect([...new Set([...called, 'eval'])].toSorted()).toEqual([...LOCK_COMMANDS].toSorted())
    const pattern = /~(\S+)/.exec(accessString('prod'))?.[1] ?? ''
    expect(pattern.endsWith('*')).toBe(true)
    const key = `${lockPrefix('prod')}${lockKey({ distributor: 'ARIA', month: '2026-10' })}`
    expect(key.startsWith(pattern.slice(0, -1))).toBe(true)
  })
})

describe('the bucket', () => {
  test('is versioned and private', () => {
    template.hasResource('AWS::S3::Bucket', {
      Properties: {
        VersioningConfiguration: { Status: 'Enabled' },
        PublicAccessBlockConfiguration: { BlockPublicAcls: true, RestrictPublicBuckets: true },
        BucketEncryption: Match.anyValue(),
      },
    })
  })

  test('lets files and reports go by age, and staged sources never: undo lives on them', () => {
    const { Rules } = template.toJSON().Resources.Bucket.Properties.LifecycleConfiguration
    const byPrefix = Object.fromEntries(Rules.map((rule: { Prefix?: string }) => [rule.Prefix ?? '', rule]))
    expect(byPrefix['incoming/'].ExpirationInDays).toBeGreaterThan(0)
    expect(byPrefix['rejected/'].ExpirationInDays).toBeGreaterThan(0)
    expect(byPrefix['staged/']).not.toHaveProperty('ExpirationInDays')
    expect(byPrefix[''].NoncurrentVersionExpiration).toBeDefined()
    expect(byPrefix['']).not.toHaveProperty('ExpirationInDays')
  })
})

describe('the topics', () => {
  test('are encrypted under a key that rotates and that alarms may use', () => {
    template.allResourcesProperties('AWS::SNS::Topic', { KmsMasterKeyId: Match.anyValue() })
    template.hasResourceProperties('AWS::KMS::Key', {
      EnableKeyRotation: true,
      KeyPolicy: {
        Statement: Match.arrayWith([Match.objectLike({ Principal: { Service: 'cloudwatch.amazonaws.com' } })]),
      },
    })
  })

  test("the one for people takes messages of this account's alarms", () => {
    template.hasResourceProperties('AWS::SNS::TopicPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Condition: { StringEquals: { 'aws:SourceAccount': '333333333333' } },
          }),
        ]),
      },
    })
  })
})
