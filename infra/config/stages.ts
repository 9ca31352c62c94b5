import { PipelineConfig, readConfig, type StageConfig, type StageValues } from './config.ts'

/*
 * The stages and their values. The account ids are placeholders: put your own here before the first deployment.
 * A test in test/infra holds an example with an existing VPC, database and Valkey.
 */

const REGION = 'ap-northeast-2'
const REPOSITORY = 'example/sharelock'
const BRANCH = 'main'
const RUNBOOK_URL = `https://github.com/${REPOSITORY}/blob/${BRANCH}/docs/runbook.md`
const PIPELINE_ACCOUNT = '444444444444'
const ZONES = ['ap-northeast-2a', 'ap-northeast-2c']

const local: StageValues = {
  kind: 'local',
  stage: 'local',
  lanes: 2,
  jobsMax: 4,
  tracing: false,
  logRetentionDays: 7,
}

/** One of everything that may wait, and no alarm that would wake anybody. */
const dev: StageValues = {
  kind: 'aws',
  stage: 'dev',
  account: '111111111111',
  region: REGION,
  lanes: 2,
  jobsMax: 2,
  // What every account may have from its first day; see docs/first-deployment.md.
  sourceMemoryMb: 3_008,
  tracing: true,
  logRetentionDays: 14,
  network: { kind: 'new', cidr: '10.30.0.0/22', zones: ZONES },
  database: {
    kind: 'new',
    instanceType: 't4g.medium',
    multiAz: false,
    storageGib: 100,
    storageMaxGib: 200,
    backupDays: 1,
    maxConnections: 200,
  },
  lock: { kind: 'new', nodeType: 'cache.t4g.micro', nodes: 1 },
  schedule: { day: 10, hour: 2, enabled: false },
  alarms: { emails: [], runbookUrl: RUNBOOK_URL, outboxAgeMinutes: 60, registeredByDay: 28 },
  sweepMinutes: 15,
  reservedConcurrency: false,
}

/** Shaped like production, so that a failover or a budget fails here first; smaller machines. */
const staging: StageValues = {
  ...dev,
  stage: 'staging',
  account: '222222222222',
  jobsMax: 4,
  sourceMemoryMb: 8_192,
  logRetentionDays: 30,
  network: { kind: 'new', cidr: '10.31.0.0/22', zones: ZONES },
  database: {
    kind: 'new',
    instanceType: 't4g.medium',
    multiAz: true,
    storageGib: 100,
    storageMaxGib: 500,
    backupDays: 7,
    maxConnections: 300,
  },
  lock: { kind: 'new', nodeType: 'cache.t4g.micro', nodes: 2 },
  alarms: {
    emails: ['sharelock-staging@example.com'],
    runbookUrl: RUNBOOK_URL,
    outboxAgeMinutes: 30,
    registeredByDay: 28,
  },
  smokeFrom: PIPELINE_ACCOUNT,
  sweepMinutes: 5,
  reservedConcurrency: true,
}

const prod: StageValues = {
  ...staging,
  stage: 'prod',
  account: '333333333333',
  // Half as many as the database has cores: beside one job, readers keep the other half.
  lanes: 2,
  jobsMax: 8,
  logRetentionDays: 180,
  network: { kind: 'new', cidr: '10.32.0.0/22', zones: ZONES },
  database: {
    kind: 'new',
    instanceType: 'm7g.xlarge',
    multiAz: true,
    storageGib: 100,
    storageMaxGib: 500,
    backupDays: 14,
    maxConnections: 600,
  },
  schedule: { day: 10, hour: 2, enabled: true },
  alarms: {
    emails: ['sharelock@example.com'],
    page: { emails: ['sharelock-on-call@example.com'] },
    runbookUrl: RUNBOOK_URL,
    outboxAgeMinutes: 15,
    registeredByDay: 12,
  },
}

const STAGES: readonly StageValues[] = [local, dev, staging, prod]

export const STAGE_NAMES: readonly string[] = STAGES.map(({ stage }) => stage)

/** The configuration of a stage, or a sentence that says which stages there are, or what is wrong with this one. */
export const stageConfig = (stage: string): StageConfig => {
  const values = STAGES.find((candidate) => candidate.stage === stage)
  if (values === undefined) throw new Error(`There is no stage "${stage}"; the stages are: ${STAGE_NAMES.join(', ')}`)
  return readConfig(values)
}

export const pipelineConfig = (): PipelineConfig =>
  PipelineConfig.parse({
    account: PIPELINE_ACCOUNT,
    region: REGION,
    connectionArn: `arn:aws:codeconnections:${REGION}:${PIPELINE_ACCOUNT}:connection/00000000-0000-0000-0000-000000000000`,
    repository: REPOSITORY,
    branch: BRANCH,
    stages: ['staging', 'prod'],
    // AWS's mirror: the images' own host refuses builders that share an address.
    image: 'public.ecr.aws/docker/library/node:24-trixie',
    emails: ['sharelock@example.com'],
  })
