import type { SeenHead } from '../../functions/contract/messages.ts'
import type { DistributorFields } from '../../functions/contract/operations.ts'
import type {
  AuditLine,
  Checks,
  DistributorLine,
  SliceLine,
  SliceReport,
  Stopped,
  Unlocked,
} from '../../functions/contract/reports.ts'
import type { Rejection, SourceRules } from '../../functions/contract/source-refusals.ts'
import type { Slice } from '../../functions/contract/words.ts'

/**
 * What an operator can do: the one module behind the command and the console. It talks to AWS, or to the local stack,
 * through the AWS SDK under the operator's own credentials, and keeps nothing but its last looks at a run, which tell the speed.
 */
export type SliceName = Pick<Slice, 'distributor' | 'month'>

/** Called now and then with the number of rows of a file that have been read. */
export type OnRows = (rows: number) => void

/** What reading a file told. */
export type Validation = {
  readonly accepted: boolean
  /** `ascii`, `utf-8`, `utf-16le`, `utf-16be`, `cp949`; `staged source` where no file was read. */
  readonly encoding: string
  readonly gzip: boolean
  readonly ignoredColumns: readonly string[]
  /** Null where the file is refused. */
  readonly summary: {
    readonly digest: string
    readonly rows: number
    readonly tracks: number
    readonly parties: number
    readonly shareSum: string
    readonly chunks: number
  } | null
  readonly rejection: Rejection | null
}

/** The new file beside the slice's last registered set; every count is of rows. */
export type Difference = {
  /** Null: nothing was ever registered, every row is new. */
  readonly against: { readonly job: number; readonly digest: string; readonly rows: number } | null
  readonly added: number
  readonly removed: number
  /** Same key, another share. */
  readonly changed: number
  readonly unchanged: number
  /**
   * Why the last registered set cannot be compared: then the counts are those of an empty one. Null where they are
   * true.
   */
  readonly problem: string | null
}

/** A start that has been looked at and not yet made. Nothing has been uploaded, deleted or started. */
export type StartPlan = SliceName & {
  readonly source: { readonly path: string } | { readonly key: string } | { readonly staged: string }
  /** Where a file of this machine will be uploaded, an address made of its content; null for other sources. */
  readonly uploadKey: string | null
  readonly isUndo: boolean
  readonly validation: Validation
  readonly difference: Difference
  /** Rows that will be deleted: all that the slice holds now, no matter who wrote them. */
  readonly rowsToDelete: number
  readonly rowsToRegister: number
  /** What must be typed to go on, e.g. `ARIA 2026-10`; null where the change is below the threshold. */
  readonly confirmation: string | null
  /** The open job of another source that is in the way unless it is closed. */
  readonly blockedBy: SliceReport['jobs'][number] | null
  /** The open job of the same source: starting goes on with it from its state. */
  readonly continues: SliceReport['jobs'][number] | null
  /** A running execution (its ARN) of the same slice and source: starting joins it. */
  readonly joins: string | null
  /** A running execution of the slice with another source: a start is refused, or waits for it. */
  readonly busyWith: string | null
  /** The slice already holds exactly this source: starting changes nothing unless forced. */
  readonly alreadyRegistered: boolean
  /** What is wrong with the staged copy of a source that is registered already; starting its file closes the hole. */
  readonly copyProblem: string | null
  /** The slice's newest job as it was seen; a start is refused where it is another by then. Null: it never had one. */
  readonly head: SeenHead | null
  /**
   * Executions (ARNs) with other sources that work on the slice: a start that waits comes behind these and no others.
   */
  readonly behind: readonly string[]
}

export type StartOptions = {
  readonly supersede?: boolean
  readonly force?: boolean
  /** Wait for a held lock instead of being refused. */
  readonly wait?: boolean
  readonly why?: string | undefined
  /** What the operator typed; needed where the plan has a confirmation. */
  readonly confirmation?: string | undefined
}

export type ResumeOptions = Pick<StartOptions, 'wait' | 'why'> & {
  /** The job that the operator saw, and its fence: no other is resumed. */
  readonly seen?: { readonly job: number; readonly fence?: number } | undefined
}

export type Started = {
  readonly executionArn: string
  readonly execution: string
  /** True: it ran already, and nothing new was started. */
  readonly joined: boolean
}

/** One look at a run. */
export type Progress = SliceName & {
  readonly executionArn: string
  readonly status: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED'
  /** The state machine's current state, e.g. `RegisterChunks`; null once it has ended. */
  readonly at: string | null
  /** The newest job, once it is this execution's own. */
  readonly job: SliceReport['jobs'][number] | null
  readonly lock: SliceReport['lock']
  /** Of the phase that runs now, over the last looks, and what is left at that speed. Null where nothing runs. */
  readonly rowsPerS: number | null
  readonly secondsLeft: number | null
  /** Why it failed and what to do about it, in sentences; null while it runs or where it succeeded. */
  readonly failure: { readonly error: string; readonly cause: string; readonly remedy: string } | null
  /** What could not be seen in this look and why; the rest is as it was in the look before. */
  readonly trouble: string | null
  /** What a success came to, e.g. `registered 1600 rows`, `the slice held this source already`. */
  readonly result: string | null
}

/** One disagreement, and the one command that fixes it. */
export type Finding = {
  readonly check: string
  readonly severity: 'error' | 'warning'
  readonly what: string
  /** A whole command line, or a sentence where no command of ours can fix it. */
  readonly remedy: string
  readonly slice: SliceName | null
}

export type Diagnosis = { readonly checks: Checks | null; readonly findings: readonly Finding[] }

export type Operations = {
  readonly stage: string
  /** The caller as AWS names it. */
  readonly identity: () => Promise<string>
  readonly validate: (path: string, rules: SourceRules, onRows?: OnRows) => Promise<Validation>
  /** Reads the file and compares it; `source` is a path here or a key under incoming/. The signal ends it half way. */
  readonly planStart: (
    slice: SliceName,
    source: StartPlan['source'],
    onRows?: OnRows,
    signal?: AbortSignal,
  ) => Promise<StartPlan>
  /** Uploads if need be, records, and starts or joins. */
  readonly start: (plan: StartPlan, options: StartOptions) => Promise<Started>
  /** Looks until the run has ended; the last value says how. */
  readonly watch: (executionArn: string, signal?: AbortSignal) => AsyncIterable<Progress>
  /** One look. */
  readonly look: (executionArn: string) => Promise<Progress>
  /** The running execution of a slice, no matter who started it. */
  readonly runningExecution: (slice: SliceName) => Promise<string | null>
  readonly list: (
    from: string,
    to: string,
  ) => Promise<{
    readonly slices: readonly SliceLine[]
    readonly distributors: readonly DistributorLine[]
  }>
  readonly show: (what: SliceName | { readonly job: number }) => Promise<SliceReport>
  /**
   * How the execution ended whose lock this is, e.g. `ABORTED`, or `GONE` where there is none; null while it runs, and
   * where that is not known.
   */
  readonly endOfHolder: (lock: SliceReport['lock']) => Promise<string | null>
  readonly resume: (slice: SliceName, options: ResumeOptions) => Promise<Started>
  /** Halts between chunks, then ends the execution. Where no job is open yet, only the execution is ended. */
  readonly stop: (slice: SliceName, why: string) => Promise<Stopped | { readonly ended: string }>
  /** Ends one execution of the slice, by its name, and changes no job: for a run that was overtaken. */
  readonly endRun: (slice: SliceName, execution: string, why: string) => Promise<{ readonly ended: string }>
  readonly planUndo: (slice: SliceName) => Promise<StartPlan>
  readonly undo: (plan: StartPlan, options: StartOptions) => Promise<Started>
  readonly unlock: (slice: SliceName, tokenDigest: string, why: string) => Promise<Unlocked>
  readonly distributors: () => Promise<readonly DistributorLine[]>
  readonly putDistributor: (
    mode: 'add' | 'set',
    distributor: DistributorFields,
    why: string,
  ) => Promise<DistributorLine>
  readonly doctor: (from: string, to: string) => Promise<Diagnosis>
  readonly audit: (filter: Partial<SliceName> & { readonly limit?: number }) => Promise<readonly AuditLine[]>
}

/** Refusals of the operations themselves, by the exit code that the command gives them. */
export const OPERATION_ERRORS = {
  /** Unexpected. */
  Failed: 1,
  /** Wrong arguments or input. */
  Usage: 2,
  /** The file was refused. */
  Rejected: 3,
  /** Somebody else runs, holds the lock, or has an open job. */
  Busy: 4,
  /** The run halted or was overtaken: it did not end REGISTERED. */
  Halted: 5,
  /** A typed confirmation is needed and was not given, or does not match. */
  Unconfirmed: 6,
  /** A service cannot be reached or refuses the caller. */
  Unreachable: 7,
  /** What was asked for does not exist. */
  NotFound: 8,
  /** `doctor` found something. */
  Findings: 9,
  /** What was shown is not so any more: the file, or the slice's newest job. */
  PlanMoved: 10,
} as const
export type OperationErrorName = keyof typeof OPERATION_ERRORS

/** The message is one sentence for the operator: what is wrong, where, and what to do. */
export class OperationError extends Error {
  override readonly name: OperationErrorName

  constructor(name: OperationErrorName, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = name
  }
}
