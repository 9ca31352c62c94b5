import { z } from 'zod'
import { SLICE_MONTHS_MAX } from './limits.ts'
import { DistributorCode, Execution, Month } from './messages.ts'
import { type JobState, PARTY_SCHEMES, type SliceStatus, SUM_RULES } from './words.ts'

/** True where `from` to `to` is a range of at most SLICE_MONTHS_MAX months. */
export const isMonthRange = (from: string, to: string): boolean => {
  const months = (month: string): number => Number(month.slice(0, 4)) * 12 + Number(month.slice(5))
  const span = months(to) - months(from)
  return span >= 0 && span < SLICE_MONTHS_MAX
}

const overMonths = <Question extends 'slices' | 'checks'>(question: Question) =>
  z
    .strictObject({ question: z.literal(question), from: Month, to: Month })
    .refine(({ from, to }) => isMonthRange(from, to), {
      path: ['to'],
      message: `a month not before "from", and ${SLICE_MONTHS_MAX} months in all at most`,
    })

/**
 * What the operator's command and console ask of the two functions that stand in for a client inside the VPC: Inspect
 * reads, Operate changes. Whoever may only look is granted Inspect alone. Starting, watching and ending executions is
 * not here: that is Step Functions' own API, under the operator's own identity.
 */
export const InspectInput = z.discriminatedUnion('question', [
  /** Where everything is: -> Place */
  z.strictObject({ question: z.literal('place') }),
  /** The newest job of every slice of some months: -> SliceLine[] */
  overMonths('slices'),
  /** One slice with its jobs, newest first, its lock and its audit trail: -> SliceReport */
  z.strictObject({ question: z.literal('slice'), distributor: DistributorCode, month: Month }),
  /** The slice of a job: -> SliceReport */
  z.strictObject({ question: z.literal('job'), job: z.int().min(1) }),
  /** Counts and sums the rows of a slice, which reads all of them: -> SliceRows */
  z.strictObject({ question: z.literal('rows'), distributor: DistributorCode, month: Month }),
  /** -> DistributorLine[] */
  z.strictObject({ question: z.literal('distributors') }),
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
const Caller = z.string().min(1).max(200)
const Why = z.string().max(500).default('')

/** The digest under which a token is shown; whoever had the token itself could release the lock. */
export const TokenDigest = z.string().regex(/^[0-9a-f]{12}$/, 'the 12 hexadecimal digits shown beside the lock')

export const DistributorFields = z.strictObject({
  code: DistributorCode,
  name: z.string().min(1).max(200),
  active: z.boolean(),
  sumRule: z.enum(SUM_RULES),
  partyScheme: z.enum(PARTY_SCHEMES),
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
  }),
  /** Raises the fence of an open job, halts it and releases its lock; chunks in flight end first: -> Stopped */
  z.strictObject({ action: z.literal('stop'), caller: Caller, why: Why, job: z.int().min(1) }),
  /** The same for whatever job is open, then deletes exactly the lock that was seen: -> Unlocked */
  z.strictObject({
    action: z.literal('unlock'),
    caller: Caller,
    why: Why,
    distributor: DistributorCode,
    month: Month,
    tokenDigest: TokenDigest,
  }),
  /** Adds one that must not exist, or changes one that must: -> DistributorLine */
  z.strictObject({
    action: z.literal('put-distributor'),
    caller: Caller,
    why: Why,
    mode: z.enum(['add', 'set']),
    distributor: DistributorFields,
  }),
])
export type OperateInput = z.output<typeof OperateInput>
export type OperateRequest = z.input<typeof OperateInput>

/** Every time below is ISO 8601 in UTC with milliseconds; every sum is exact decimal text with six decimals. */

export type Place = {
  readonly stage: string
  readonly stateMachineArn: string
  readonly dispatchMachineArn: string
  readonly bucket: string
}

export type SliceLine = {
  readonly distributor: string
  readonly month: string
  readonly job: number
  readonly state: JobState
  readonly status: SliceStatus
  readonly fence: number
  readonly execution: string
  readonly requestedBy: string
  readonly rows: number
  readonly openedAt: string
  readonly registeredAt: string | null
  readonly haltedAt: string | null
  readonly haltError: string | null
}

export type LockReport = {
  /** The execution's name. */
  readonly holder: string
  readonly tokenDigest: string
  readonly remainingMs: number
  /** The job that carries this token, if any does. */
  readonly job: number | null
}

/** One phase of a job: `map` has one character per chunk in key order, `#` for marked and `.` for not yet. */
export type PhaseReport = {
  readonly chunks: number
  readonly marked: number
  /** Rows of all chunks, and of the marked ones. */
  readonly rows: number
  readonly rowsMarked: number
  readonly lastMarkedAt: string | null
  readonly map: string
}

export type JobReport = {
  readonly job: number
  readonly state: JobState
  /** `superseded`: closed before REGISTERED. Only the newest job of a slice can be open. */
  readonly status: SliceStatus | 'superseded'
  readonly fence: number
  readonly execution: string
  readonly requestedBy: string
  readonly isUndo: boolean
  readonly source: { readonly digest: string; readonly rows: number; readonly shareSum: string }
  readonly at: {
    readonly created: string
    readonly opened: string
    readonly deleted: string | null
    readonly registering: string | null
    readonly registered: string | null
    readonly closed: string | null
  }
  readonly halt: { readonly at: string; readonly error: string; readonly cause: string } | null
  readonly delete: PhaseReport
  readonly register: PhaseReport
}

export type SliceReport = {
  readonly distributor: string
  readonly month: string
  /** Newest first, at most SLICE_JOBS_SHOWN; empty where the slice never had a job. */
  readonly jobs: readonly JobReport[]
  /** `unreachable`: Valkey did not answer. */
  readonly lock: LockReport | null | 'unreachable'
  readonly audit: readonly AuditLine[]
}

export type SliceRows = { readonly rows: number; readonly shareSum: string }

export type DistributorLine = DistributorFields & { readonly id: number }

export const AUDIT_ACTIONS = [
  'start',
  'resume',
  'undo',
  'stop',
  'unlock',
  'add-distributor',
  'set-distributor',
] as const
export type AuditAction = (typeof AUDIT_ACTIONS)[number]

export type AuditLine = {
  readonly id: number
  readonly at: string
  readonly caller: string
  readonly action: AuditAction
  readonly distributor: string
  readonly month: string | null
  readonly job: number | null
  readonly execution: string | null
  readonly why: string
  /** What the action was given or did, e.g. the source of a start or the holder of an unlocked lock. */
  readonly detail: Readonly<Record<string, string | number | boolean | null>>
}

export type Recorded = { readonly id: number }

export type Stopped = {
  /** False: the job was REGISTERED, closed or halted before, and nothing was changed. */
  readonly halted: boolean
  readonly job: number
  readonly state: JobState
  readonly execution: string
  readonly released: boolean
}

export type Unlocked = {
  /** The open job that was halted, if there was one. */
  readonly job: number | null
  readonly holder: string
  /** False: the lock expired or changed hands in between. */
  readonly released: boolean
}

export type OpenJobCheck = SliceLine & {
  /** Seconds since its last transition or mark. */
  readonly quietS: number
  readonly lock: LockReport | null | 'unreachable'
}

export type Checks = {
  readonly database: {
    readonly version: string
    readonly localInfile: boolean
    readonly migrationsMissing: readonly string[]
    /** Applied here and unknown to this release. */
    readonly migrationsUnknown: readonly string[]
  }
  /** Why Valkey does not answer; null where it does. */
  readonly lockProblem: string | null
  readonly openJobs: readonly OpenJobCheck[]
  /** Locks of slices whose job does not carry the lock's token. */
  readonly strayLocks: readonly { readonly distributor: string; readonly month: string; readonly lock: LockReport }[]
  readonly unpublished: { readonly events: number; readonly oldestS: number | null }
  /** Slices whose newest job is REGISTERED, with what their rows must come to. */
  readonly registered: readonly {
    readonly distributor: string
    readonly month: string
    readonly job: number
    readonly digest: string
    readonly rows: number
    readonly shareSum: string
  }[]
}

/** The reply to each question. */
export type InspectReply = {
  readonly place: Place
  readonly slices: readonly SliceLine[]
  readonly slice: SliceReport
  readonly job: SliceReport
  readonly rows: SliceRows
  readonly distributors: readonly DistributorLine[]
  readonly audit: readonly AuditLine[]
  readonly checks: Checks
}

/** The reply to each action. */
export type OperateReply = {
  readonly record: Recorded
  readonly stop: Stopped
  readonly unlock: Unlocked
  readonly 'put-distributor': DistributorLine
}

/** The function that operators call by name: nothing else has to be known of a stage. */
export const operatorFunctionName = (stage: string, name: 'Inspect' | 'Operate'): string =>
  `sharelock-${stage}-${name.toLowerCase()}`
