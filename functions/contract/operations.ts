import { z } from 'zod'
import { CALLER_CHARS_MAX } from './limits.ts'
import { Digest } from './manifest.ts'
import { DistributorCode, Execution, Month } from './messages.ts'
import { isMonthRange } from './months.ts'
import { Profile } from './profile.ts'
import { SLICE_MONTHS_MAX } from './support-limits.ts'
import { Confirmed } from './warnings.ts'
import { OVER_CLAIMS, PARTY_SCHEMES, REPLACE_MODES, SUM_RULES } from './words.ts'

const overMonths = <Question extends 'slices' | 'warned' | 'checks'>(question: Question) =>
  z
    .strictObject({ question: z.literal(question), from: Month, to: Month })
    .refine(({ from, to }) => isMonthRange(from, to), {
      path: ['to'],
      message: `a month not before "from", and ${SLICE_MONTHS_MAX} months in all at most`,
    })

/**
 * What the operator's command and console ask of the two functions that replace a client inside the VPC: Inspect
 * reads, Operate changes. A reader is granted Inspect alone. Starting, watching and ending executions is
 * not here: that is Step Functions' own API, under the operator's own identity.
 */
export const InspectInput = z.discriminatedUnion('question', [
  /** Where everything is: -> Deployment */
  z.strictObject({ question: z.literal('deployment') }),
  /** The newest job of every slice of some months: -> SliceLine[] */
  overMonths('slices'),
  /** Delivered files of some months that wait for an operator to confirm their warnings: -> WarnedFile[] */
  overMonths('warned'),
  /** One slice with its jobs, newest first, its lock and its audit trail: -> SliceReport */
  z.strictObject({ question: z.literal('slice'), distributor: DistributorCode, month: Month }),
  /** The slice of a job: -> SliceReport */
  z.strictObject({ question: z.literal('job'), job: z.int().min(1) }),
  /** Counts and sums the rows that readers see of a slice, which reads all of them: -> SliceRows */
  z.strictObject({ question: z.literal('rows'), distributor: DistributorCode, month: Month }),
  /** Compares every column of the set that readers see with what was registered: -> SetReport; null where they see none */
  z.strictObject({ question: z.literal('set'), distributor: DistributorCode, month: Month }),
  /** What the distributor's other months tell of a set of rows: -> Neighbours */
  z.strictObject({ question: z.literal('neighbours'), distributor: DistributorCode, month: Month, digest: Digest }),
  /** -> DistributorLine[] */
  z.strictObject({ question: z.literal('distributors') }),
  /** How a distributor writes its files, by its newest profile or one of a version: -> ProfileReport */
  z.strictObject({
    question: z.literal('profile'),
    distributor: DistributorCode,
    version: z.int().min(0).optional(),
  }),
  /** Newest first: -> AuditLine[] */
  z.strictObject({
    question: z.literal('audit'),
    distributor: DistributorCode.optional(),
    month: Month.optional(),
    limit: z.int().min(1).max(500).default(100),
  }),
  /** What only MySQL and Valkey know of disagreements: -> Checks */
  overMonths('checks'),
])
export type InspectInput = z.output<typeof InspectInput>
export type InspectRequest = z.input<typeof InspectInput>

/** Who asks, as AWS names the caller. It is recorded, not proved: AWS's own trail of the invocation is the proof. */
const Caller = z.string().min(1).max(CALLER_CHARS_MAX)
/** Cut where it is stored: no stop is refused because its reason is long. */
const Why = z.string().default('')

/** The digest under which a token is shown; anyone who had the token itself could release the lock. */
const TokenDigest = z.string().regex(/^[0-9a-f]{12}$/, 'the 12 hexadecimal digits shown beside the lock')

export const DistributorFields = z.strictObject({
  code: DistributorCode,
  name: z.string().min(1).max(200),
  active: z.boolean(),
  sumRule: z.enum(SUM_RULES),
  partyScheme: z.enum(PARTY_SCHEMES),
  /** Left out: refuse for a new distributor, and as it was for one that is changed. */
  overClaim: z.enum(OVER_CLAIMS).optional(),
  /** Left out: standby for a new distributor, and as it was for one that is changed. */
  replaceMode: z.enum(REPLACE_MODES).optional(),
})
export type DistributorFields = z.infer<typeof DistributorFields>

export const OperateInput = z.discriminatedUnion('action', [
  /** Writes the audit line of an execution that is about to be started: -> Recorded */
  z.strictObject({
    action: z.literal('record'),
    caller: Caller,
    why: Why,
    what: z.enum(['start', 'resume', 'undo']),
    distributor: DistributorCode,
    month: Month,
    /** Its name, or its ARN; the line keeps the name. */
    execution: Execution,
    /** The file's key or the staged source, e.g. `incoming/...` or a SHA-256. */
    source: z.string().max(1_024),
    /** The warnings that the caller confirmed. */
    confirmed: Confirmed.optional(),
  }),
  /** Raises the fence of an open job, halts it and releases its lock; chunks in flight end first: -> Stopped */
  z.strictObject({ action: z.literal('stop'), caller: Caller, why: Why, job: z.int().min(1) }),
  /** The same for the job that is open, then deletes exactly the lock that was seen: -> Unlocked */
  z.strictObject({
    action: z.literal('unlock'),
    caller: Caller,
    why: Why,
    distributor: DistributorCode,
    month: Month,
    tokenDigest: TokenDigest,
  }),
  /** Takes the set of a slice's newest job from the readers, under the slice's lock; deletes no row: -> Withdrawn */
  z.strictObject({ action: z.literal('withdraw'), caller: Caller, why: Why, job: z.int().min(1) }),
  /** Adds one that must not exist, or changes one that must: -> DistributorLine */
  z.strictObject({
    action: z.literal('put-distributor'),
    caller: Caller,
    why: Why,
    mode: z.enum(['add', 'set']),
    distributor: DistributorFields,
  }),
  /** A new version, which counts from the next file on; none where it says what the newest says: -> ProfileReport */
  z.strictObject({
    action: z.literal('set-profile'),
    caller: Caller,
    why: Why,
    distributor: DistributorCode,
    profile: Profile,
  }),
])
export type OperateInput = z.output<typeof OperateInput>
export type OperateRequest = z.input<typeof OperateInput>

/** The function that operators call by name: nothing else has to be known of a stage. */
export const operatorFunctionName = (stage: string, name: 'Inspect' | 'Operate'): string =>
  `sharelock-${stage}-${name.toLowerCase()}`
