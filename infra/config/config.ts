import { z } from 'zod'
import { CONNECTIONS_SHARE_MAX, connectionBudget } from './connections.ts'

/*
 * What may differ between stages, and what a value may be. The values are in stages.ts. Where one is wrong, synthesis
 * stops with a sentence that names it.
 */

const Name = z.string().regex(/^[a-z][a-z0-9-]{1,19}$/, 'a name: 2-20 of a-z, 0-9 and -')
const id = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}-[0-9a-f]{8,17}$`), `an id such as ${prefix}-0a1b2c3d`)
const HostName = z.string().regex(/^[a-z0-9][a-z0-9.-]+\.[a-z]+$/, "a host name, as the server's certificate has it")
const Region = z.string().regex(/^[a-z]{2}-[a-z]+-\d$/, 'a region such as ap-northeast-2')
const Port = z.int().min(1).max(65_535)

/** Log groups end after one of these; CloudWatch knows no other numbers. */
const LogRetentionDays = z.literal([7, 14, 30, 60, 90, 180, 365])

/** Isolated subnets of its own, or somebody's. Existing subnets need a route table each, for the S3 endpoint. */
const Network = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('new'),
    cidr: z.string().regex(/^10\.\d{1,3}\.\d{1,3}\.0\/\d{2}$/, 'a private range such as 10.20.0.0/22'),
    /**
     * Given and not looked up, so that synthesis needs no account. The first one also holds the interface endpoints.
     */
    zones: z
      .array(z.string().regex(/^[a-z]{2}-[a-z]+-\d[a-z]$/, 'a zone such as ap-northeast-2a'))
      .min(2)
      .max(3),
  }),
  z
    .strictObject({
      kind: z.literal('existing'),
      vpcId: id('vpc'),
      zones: z.array(z.string()).min(2),
      subnetIds: z.array(id('subnet')).min(2),
      routeTableIds: z.array(id('rtb')).min(1),
      /** False where the VPC has endpoints of S3, SNS and Secrets Manager already. */
      endpoints: z.boolean(),
    })
    .refine(
      ({ zones, subnetIds, routeTableIds }) =>
        subnetIds.length === routeTableIds.length && subnetIds.length === zones.length,
      {
        message: 'zones, subnetIds and routeTableIds belong together: give as many of each, in the same order',
      },
    ),
])

const DatabaseSettings = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('new'),
    instanceType: z.string().regex(/^[a-z]\d\w*\.\w+$/, 'an instance type without "db.", such as m7g.large'),
    multiAz: z.boolean(),
    storageGib: z.int().min(100).max(65_536),
    storageMaxGib: z.int().min(100).max(65_536),
    backupDays: z.int().min(1).max(35),
    /** Set in the parameter group: the connection budget is computed against it. */
    maxConnections: z.int().min(50).max(16_000),
  }),
  z.strictObject({
    kind: z.literal('existing'),
    identifier: z.string().min(1),
    endpoint: HostName,
    port: Port.default(3_306),
    /** `db-...`: IAM grants name it, and the identifier does not do. */
    resourceId: z.string().regex(/^db-[A-Z0-9]+$/, 'a resource id such as db-ABCDEFGHIJKL0123456789'),
    securityGroupId: id('sg'),
    /** With user name and password in JSON. Its KMS key must let this account's roles decrypt. */
    masterSecretArn: z.string().regex(/^arn:aws:secretsmanager:[\w-]+:\d{12}:secret:.+$/, 'the whole ARN of a secret'),
    maxConnections: z.int().min(50).max(16_000),
  }),
])

const Lock = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('new'),
    nodeType: z.string().regex(/^cache\.[a-z]\d\w*\.\w+$/, 'a node type such as cache.t4g.micro'),
    /** One node has no failover: for stages that may wait. */
    nodes: z.int().min(1).max(3),
  }),
  z.strictObject({
    kind: z.literal('existing'),
    groupId: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'the id of a replication group'),
    endpoint: HostName,
    port: Port.default(6_379),
    /** Id and name of an IAM user of the group, which are the same. */
    user: z.string().min(1),
    securityGroupId: id('sg'),
  }),
])

const Schedule = z.strictObject({
  /** 28 at most: a later day does not exist in every month. */
  day: z
    .int()
    .min(1, 'a day of the month from 1 to 28')
    .max(28, 'a day of the month from 1 to 28: a later one does not come every month'),
  hour: z.int().min(0).max(23),
  enabled: z.boolean(),
})

const Alarms = z.strictObject({
  /** Who is written to; their confirmation is asked for by e-mail. */
  emails: z.array(z.email('an e-mail address')),
  /** A topic that somebody watches already, besides. */
  topicArn: z
    .string()
    .regex(/^arn:aws:sns:[\w-]+:\d{12}:[\w-]+$/, 'the ARN of a topic')
    .optional(),
  outboxAgeMinutes: z.int().min(5).max(1_440),
  /** The day by which the month that the schedule registers must be REGISTERED of every active distributor. */
  registeredByDay: z.int().min(1).max(28),
})

const Common = {
  stage: Name,
  /** Items of a Map that run at once, each with one database connection. */
  lanes: z.int().min(1).max(20),
  /** Jobs that run at once at most. The schedule starts so many, then pauses, then the next. */
  jobsMax: z.int().min(1).max(100),
  /** Between the starts of one dispatch lane: about the time a job takes. */
  paceSeconds: z.int().min(1).max(3_600),
  /** Which month the schedule registers: 1 is the month before its own. */
  monthsBack: z.int().min(0).max(12).default(1),
  tracing: z.boolean(),
  logRetentionDays: LogRetentionDays,
}

/** The local stack has stores of its own; only definition, functions and names are taken from its template. */
const LocalStage = z.strictObject({ kind: z.literal('local'), ...Common })

const AwsStage = z
  .strictObject({
    kind: z.literal('aws'),
    ...Common,
    account: z.string().regex(/^\d{12}$/, 'an account id of 12 digits'),
    region: Region,
    network: Network,
    database: DatabaseSettings,
    lock: Lock,
    schedule: Schedule,
    alarms: Alarms,
    /** The account of the pipeline, which may then run the smoke job here as an operator. */
    smokeFrom: z
      .string()
      .regex(/^\d{12}$/, 'an account id of 12 digits')
      .optional(),
    sweepMinutes: z.int().min(1).max(60),
    /**
     * Lambda's reserved concurrency per function, which turns the budget of connections into a limit. Off where the
     * account has few: a new account may have 10 in all.
     */
    reservedConcurrency: z.boolean(),
  })
  .superRefine((config, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
    const { network, database, lock, region } = config
    const needed = connectionBudget(config)
    if (needed > CONNECTIONS_SHARE_MAX * database.maxConnections)
      refuse(
        ['database', 'maxConnections'],
        `${config.jobsMax} jobs of ${config.lanes} lanes need ${needed} connections, more than 70 % of ${database.maxConnections}: raise maxConnections to ${Math.ceil(needed / CONNECTIONS_SHARE_MAX)} or turn lanes or jobsMax down`,
      )
    if (database.kind === 'new' && database.storageMaxGib <= database.storageGib)
      refuse(['database', 'storageMaxGib'], 'must exceed storageGib, or the storage can not grow')
    for (const zone of network.zones)
      if (!zone.startsWith(region)) refuse(['network', 'zones'], `the zone ${zone} is not in ${region}`)
    if (network.kind === 'new' && lock.kind === 'existing')
      refuse(['lock'], 'an existing Valkey is in a VPC that a new network does not reach: give the existing network')
    if (network.kind === 'new' && database.kind === 'existing')
      refuse(
        ['database'],
        'an existing database is in a VPC that a new network does not reach: give the existing network',
      )
  })

export const StageConfig = z.discriminatedUnion('kind', [LocalStage, AwsStage])
export type StageConfig = z.output<typeof StageConfig>
export type StageValues = z.input<typeof StageConfig>
export type AwsStage = z.output<typeof AwsStage>

/** The stack that delivers the others, in an account of its own or in one of theirs. */
export const PipelineConfig = z.strictObject({
  account: z.string().regex(/^\d{12}$/, 'an account id of 12 digits'),
  region: Region,
  /** Made by hand once, in the console: it needs a person's consent at the source's host. */
  connectionArn: z
    .string()
    .regex(
      /^arn:aws:(codeconnections|codestar-connections):[\w-]+:\d{12}:connection\/[\w-]+$/,
      'the ARN of a connection',
    ),
  repository: z.string().regex(/^[\w.-]+\/[\w.-]+$/, 'owner/name'),
  branch: z.string().min(1),
  /** The stages in their order; the smoke job runs in each but the last, which a person approves. */
  stages: z.array(Name).min(1),
})
export type PipelineConfig = z.output<typeof PipelineConfig>

/** Checks the values of a stage, or says in a sentence each what is wrong with them. */
export const readConfig = (values: StageValues): StageConfig => {
  const result = StageConfig.safeParse(values)
  if (result.success) return result.data
  throw new Error(`The configuration of the stage "${values.stage}" is wrong:\n${z.prettifyError(result.error)}`)
}
