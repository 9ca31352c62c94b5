import { z } from 'zod'
import { TASKS } from '../../functions/contract/tasks.ts'
import { CONNECTIONS_SHARE_MAX, connectionBudget } from './connections.ts'
import { NetworkSettings } from './network.ts'
import { ReaderSettings } from './readers.ts'
import { DatabaseSettings, LockSettings } from './stores.ts'
import { AccountId, Name, Region } from './values.ts'

/*
 * What may differ between stages, and what a value may be. The values are in stages.ts. Where one is wrong, synthesis
 * stops with a sentence that names it.
 */

/** Log groups end after one of these; CloudWatch knows no other numbers. */
const LogRetentionDays = z.literal([7, 14, 30, 60, 90, 180, 365])

const Schedule = z.strictObject({
  /** 28 at most: a later day does not exist in every month. */
  day: z
    .int()
    .min(1, 'a day of the month from 1 to 28')
    .max(28, 'a day of the month from 1 to 28: a later one does not come every month'),
  hour: z.int().min(0).max(23),
  enabled: z.boolean(),
})

const Emails = z.array(z.email('an e-mail address'))
const TopicArn = z.string().regex(/^arn:aws:sns:[\w-]+:\d{12}:[\w-]+$/, 'the ARN of a topic')

const Alarms = z.strictObject({
  /** Who is written to, of each alarm; their confirmation is asked for by e-mail. */
  emails: Emails,
  /** A topic that somebody watches already, besides. */
  topicArn: TopicArn.optional(),
  /** Who is woken besides, by the alarms that can't wait for the morning. */
  page: z.strictObject({ emails: Emails, topicArn: TopicArn.optional() }).default({ emails: [] }),
  /** Where people read docs/runbook.md; each alarm links its heading there. */
  runbookUrl: z.url('the address of the runbook').regex(/^https:\/\/[^#]+$/, 'an https address without a heading'),
  outboxAgeMinutes: z.int().min(5).max(1_440),
  /** The day by which the month that the schedule registers must be REGISTERED of every active distributor. */
  registeredByDay: z.int().min(1).max(28),
})

const Common = {
  stage: Name,
  /** Items of a Map that run at once, each with one database connection. */
  lanes: z.int().min(1).max(20),
  /** Jobs that run at once. The dispatch leaves some of them to operators (dispatchLanes). */
  jobsMax: z.int().min(2).max(100),
  /** Which month the schedule registers: 1 is the month before its own. */
  monthsBack: z.int().min(0).max(12).default(1),
  /**
   * Memory of StageSource, which bounds the rows of one file (sourceRowsMax). An account that is young may have 3,008 MB:
   * `npm run preflight` asks AWS.
   */
  sourceMemoryMb: z.int().min(1_024).max(10_240).default(TASKS.StageSource.memoryMb),
  tracing: z.boolean(),
  logRetentionDays: LogRetentionDays,
}

/** The local stack has stores of its own; only definition, functions and names are taken from its template. */
const LocalStage = z.strictObject({ kind: z.literal('local'), ...Common })

const AwsStage = z
  .strictObject({
    kind: z.literal('aws'),
    ...Common,
    account: AccountId,
    region: Region,
    network: NetworkSettings,
    database: DatabaseSettings,
    lock: LockSettings,
    schedule: Schedule,
    alarms: Alarms,
    readers: ReaderSettings.prefault({}),
    /** The account of the pipeline, which may then run the smoke job here as an operator. */
    smokeFrom: AccountId.optional(),
    sweepMinutes: z.int().min(1).max(60),
    /**
     * Lambda's reserved concurrency per function, which turns the budget of connections into a limit. Off where the
     * account has few: a young account may have 10 in all, and 100 of any account are never to be reserved. `npm run
     * preflight` asks AWS and says how many this stage needs.
     */
    reservedConcurrency: z.boolean(),
  })
  .superRefine((config, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
    const { network, database, lock, region, readers } = config
    const needed = connectionBudget(config)
    if (needed > CONNECTIONS_SHARE_MAX * database.maxConnections)
      refuse(
        ['database', 'maxConnections'],
        `${config.jobsMax} jobs of ${config.lanes} lanes need ${needed} connections, more than 70 % of ${database.maxConnections}: raise maxConnections to ${Math.ceil(needed / CONNECTIONS_SHARE_MAX)} or turn lanes or jobsMax down`,
      )
    if (database.kind === 'new' && database.storageMaxGib <= database.storageGib)
      refuse(['database', 'storageMaxGib'], 'must exceed storageGib, or the storage can not grow')
    if (readers.accounts.includes(config.account))
      refuse(['readers', 'accounts'], 'the own account may subscribe already: name others only')
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
  account: AccountId,
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
  /** The stages in their order. In the last one a person approves each stack's change set. */
  stages: z.array(Name).min(1),
  /** What the tests run on: Debian, since it finds MySQL and Valkey in its archive, with Node. */
  image: z.string().min(1),
  /** Who is told when it fails, and when it waits for an approval. */
  emails: z.array(z.email('an e-mail address')),
})
export type PipelineConfig = z.output<typeof PipelineConfig>

/** Checks the values of a stage, or says in a sentence each what is wrong with them. */
export const readConfig = (values: StageValues): StageConfig => {
  const result = StageConfig.safeParse(values)
  if (result.success) return result.data
  throw new Error(`The configuration of the stage "${values.stage}" is wrong:\n${z.prettifyError(result.error)}`)
}
