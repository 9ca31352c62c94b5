import { z } from 'zod'
import { CALLER_CHARS_MAX } from './limits.ts'
import { Digest, HeldRows, ShareSum } from './manifest.ts'
import { AFTER_MAX } from './support-limits.ts'
import { Confirmed } from './warnings.ts'
import { JOB_STATES } from './words.ts'

/**
 * What travels through the state machine: the input of an execution and the input and output of each task.
 * Unknown fields are refused at the door and ignored nowhere. Everything is small and bounded: rows and chunks live in
 * S3 and MySQL, never here.
 */

/** Fits Step Functions' execution names, S3 keys and Valkey keys. */
export const DistributorCode = z
  .string()
  .regex(/^[0-9A-Za-z_-]{1,32}$/, 'a distributor code: 1-32 of letters, digits, _ and -')

export const Month = z.string().regex(/^20\d{2}-(0[1-9]|1[0-2])$/, 'a settlement month as YYYY-MM, e.g. 2026-10')

/**
 * The file to register: an uploaded object, the descriptor of several (see parts.ts), a staged source, or the one that was
 * registered before the newest job. A key that ends with `.parts.json` is a descriptor, too.
 */
export const Source = z.union(
  [
    z.strictObject({ key: z.string().regex(/^incoming\/.{1,900}$/, 'an S3 key under incoming/') }),
    z.strictObject({ parts: z.string().regex(/^incoming\/.{1,900}$/, 'the S3 key of a descriptor under incoming/') }),
    z.strictObject({ staged: Digest }),
    z.strictObject({ undo: z.literal(true) }),
  ],
  {
    error:
      'source is one of {"key": "incoming/..."}, {"parts": "incoming/..."}, {"staged": "<sha256>"}, {"undo": true}',
  },
)
export type Source = z.infer<typeof Source>

/** MySQL and Valkey keep an execution's name as ASCII; Step Functions itself would allow more. */
export const Execution = z
  .string()
  .regex(/^[\x21-\x7e]{1,512}$/, 'an execution whose name has ASCII letters, digits, - and _ only')

/**
 * The newest job of a slice as a plan saw it. The state belongs to it: a job that is REGISTERED after the plan keeps
 * its fence.
 */
export const SeenHead = z.strictObject({ job: z.int().min(1), fence: z.int().min(1), state: z.enum(JOB_STATES) })
export type SeenHead = z.infer<typeof SeenHead>

/** What a start rests on. Where one of it is not so any more, the start is refused as PlanMoved and touches nothing. */
export const Expectation = z
  .strictObject({
    /** The staged source's digest: what was shown of the file. */
    digest: Digest.optional(),
    /** The slice's newest job; null where there was none. */
    head: SeenHead.nullable().optional(),
    /** Executions that the start was told to wait for: the newest job may also be the one that such a run opened. */
    after: z.array(Execution).max(AFTER_MAX).optional(),
  })
  .refine(({ digest, head }) => digest !== undefined || head !== undefined, 'expect names a digest, a head, or both')
export type Expectation = z.infer<typeof Expectation>

/** The input of StartExecution. */
export const ExecutionInput = z.strictObject({
  distributor: DistributorCode,
  month: Month,
  source: Source,
  /** What to do while another run holds the slice's lock. */
  onHeld: z.enum(['fail', 'wait']).default('fail'),
  /** What to do while Valkey is out of reach: stop (resumable), or go on under MySQL's fence alone. */
  onOutage: z.enum(['halt', 'proceed']).default('halt'),
  /** Close an open job of another source and start over with this one. */
  supersede: z.boolean().default(false),
  /** Run even if the slice already holds exactly this source. */
  force: z.boolean().default(false),
  requestedBy: z.string().max(CALLER_CHARS_MAX).default('unknown'),
  /** What was shown to the one who starts this, compared before anything is touched. Without it nothing is compared. */
  expect: Expectation.optional(),
  /** The warnings about this file that somebody saw and confirmed, by their names. Any other ends the run as Rejected. */
  confirmed: Confirmed.optional(),
  /** Refuse a file with warnings, whoever confirmed them. */
  strict: z.boolean().optional(),
})
export type ExecutionInput = z.output<typeof ExecutionInput>
export type ExecutionRequest = z.input<typeof ExecutionInput>

const SliceMessage = z.strictObject({ distributorId: z.int().min(1), distributor: DistributorCode, month: Month })

/** The staged source of a run. */
const Staged = z.strictObject({
  digest: Digest,
  rows: z.int().min(1),
  shareSum: ShareSum,
  chunks: z.int().min(1),
  /** The version of the distributor's profile that read the file; a staged source is read by none. */
  profile: z.int().min(0).optional(),
  /** Rows of the file that were left out, since their tracks exceed 100. */
  held: HeldRows.optional(),
})
export type Staged = z.infer<typeof Staged>

/** The lock of an execution. `held` is false where the run goes on without it (onOutage = proceed). */
const LockMessage = z.strictObject({ token: z.string().min(1).max(128), held: z.boolean() })
export type LockMessage = z.infer<typeof LockMessage>

/** The newest job of a slice and its fence: what OpenJob compares before it sets. */
const Head = z.strictObject({ job: z.int(), fence: z.int() })
export type Head = z.infer<typeof Head>

const JobMessage = z.strictObject({
  id: z.int(),
  fence: z.int(),
  state: z.enum(JOB_STATES),
  outcome: z.string(),
  /** Its slot holds the wanted set already, from an earlier job: ReuseSet looks whether it does. */
  reusesSet: z.boolean(),
})
export type JobMessage = z.infer<typeof JobMessage>

/** Chunk numbers `from` to `to`, both included. */
const Item = z.strictObject({ from: z.int().min(0), to: z.int().min(0) })
export type Item = z.infer<typeof Item>

/**
 * One life of an execution. Its ARN alone does not tell lives apart: an ended execution can be redriven under it, and a
 * name may be used again after 90 days. Both values are Step Functions' own, so no other clock is compared with them.
 */
const LifeMessage = z.strictObject({ startedAt: z.iso.datetime({ offset: true }), redrives: z.int().min(0) })

/** What every task that may change a job receives: who it is (lock) and what it may write (job, fence). */
const Guarded = z.strictObject({
  slice: SliceMessage,
  lock: LockMessage,
  onOutage: ExecutionInput.shape.onOutage,
  job: JobMessage,
})
export type Guarded = z.infer<typeof Guarded>

export const StageSourceInput = z.strictObject({ request: ExecutionInput, execution: Execution })
/** The state of an execution from here on. */
export const StageSourceOutput = z.strictObject({
  request: ExecutionInput,
  execution: z.string(),
  slice: SliceMessage,
  staged: Staged,
  job: z.null(),
  reacquire: z.strictObject({ count: z.int() }),
})

export const AcquireLockInput = z.strictObject({
  slice: SliceMessage,
  lock: LockMessage,
  onHeld: ExecutionInput.shape.onHeld,
  /** The job this execution already opened, if it comes back after LockLost. */
  own: JobMessage.nullable(),
})
/** The slice's head; null before its first job. */
export const HeadOutput = z.strictObject({ head: Head.nullable() })

export const ReadHeadInput = z.strictObject({ slice: SliceMessage })

export const OpenJobInput = z.strictObject({
  request: ExecutionInput,
  execution: z.string(),
  life: LifeMessage,
  slice: SliceMessage,
  staged: Staged,
  lock: LockMessage,
  head: Head.nullable(),
  /** The job this execution already opened, if it comes back after LockLost. */
  own: JobMessage.nullable(),
})
export type OpenJobInput = z.output<typeof OpenJobInput>

export const TransitionInput = Guarded
export const ChunkInput = z.strictObject({ ...Guarded.shape, item: Item })
export type ChunkInput = z.infer<typeof ChunkInput>
/** The Map's items. */
export const ItemsOutput = z.strictObject({ chunks: z.int(), items: z.array(Item) })
export type ItemsOutput = z.infer<typeof ItemsOutput>

export const ReleaseLockInput = z.strictObject({ slice: SliceMessage, lock: LockMessage })
export const PublishEventsInput = z.strictObject({ job: JobMessage })

const FailureMessage = z.strictObject({ Error: z.string(), Cause: z.string().optional() })

/** HaltJob as the machine's Catch calls it. */
export const HaltFromCatch = z.strictObject({
  execution: z.string(),
  slice: SliceMessage,
  lock: LockMessage,
  job: JobMessage.nullable(),
  failure: FailureMessage,
})
/** HaltJob as EventBridge calls it when an execution ended without its Catch. */
export const HaltFromStatusEvent = z.object({
  'detail-type': z.literal('Step Functions Execution Status Change'),
  detail: z.object({
    executionArn: z.string(),
    status: z.enum(['FAILED', 'ABORTED', 'TIMED_OUT']),
    /** When the execution was started, in ms since 1970. */
    startDate: z.int(),
    /** Not documented for every kind of event, so an event without it is taken for the newest life's. */
    redriveCount: z.int().min(0).optional(),
  }),
})
export const HaltJobInput = z.union([HaltFromCatch, HaltFromStatusEvent])
