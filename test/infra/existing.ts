import { type AwsStage, readConfig, type StageValues } from '../../infra/config/config.ts'

/** A stage in somebody's VPC, on their database and their Valkey: nothing of these is created. */
export const EXISTING = {
  kind: 'aws',
  stage: 'guest',
  account: '555555555555',
  region: 'ap-northeast-2',
  lanes: 4,
  jobsMax: 4,
  tracing: true,
  logRetentionDays: 30,
  network: {
    kind: 'existing',
    vpcId: 'vpc-0123456789abcdef0',
    zones: ['ap-northeast-2a', 'ap-northeast-2c'],
    subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
    routeTableIds: ['rtb-0123456789abcdef0', 'rtb-0123456789abcdef1'],
    endpoints: { s3: 'own', sns: 'own', secretsManager: 'own' },
  },
  database: {
    kind: 'existing',
    identifier: 'settlement',
    endpoint: 'settlement.abcdefghijkl.ap-northeast-2.rds.amazonaws.com',
    port: 3_307,
    resourceId: 'db-ABCDEFGHIJKLMNOPQRSTUVWXYZ',
    securityGroupId: 'sg-0123456789abcdef0',
    masterSecretArn: 'arn:aws:secretsmanager:ap-northeast-2:555555555555:secret:settlement-AbCdEf',
    maxConnections: 1_000,
  },
  lock: {
    kind: 'existing',
    groupId: 'locks',
    nodeIds: ['locks-001', 'locks-004'],
    port: 6_380,
    endpoint: 'master.locks.abcdef.apn2.cache.amazonaws.com',
    user: 'sharelock',
    securityGroupId: 'sg-0123456789abcdef1',
  },
  schedule: { day: 5, hour: 3, enabled: true },
  alarms: {
    emails: [],
    topicArn: 'arn:aws:sns:ap-northeast-2:555555555555:desk',
    page: { emails: [], topicArn: 'arn:aws:sns:ap-northeast-2:555555555555:on-call' },
    runbookUrl: 'https://wiki.example.org/sharelock/runbook',
    outboxAgeMinutes: 15,
    registeredByDay: 7,
  },
  sweepMinutes: 5,
  reservedConcurrency: false,
} as const satisfies StageValues

/** Checked, as a stage that is deployed. */
export const deployed = (values: StageValues): AwsStage => {
  const config = readConfig(values)
  if (config.kind === 'local') throw new Error('The local stage is not deployed')
  return config
}
