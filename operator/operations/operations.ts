import type { ReportForm } from '../../functions/contract/file-report.ts'
import type { DistributorFields } from '../../functions/contract/operations.ts'
import type { Profile } from '../../functions/contract/profile.ts'
import type { ProfileReport } from '../../functions/contract/profile-report.ts'
import type {
  AuditLine,
  DistributorLine,
  SliceLine,
  SliceReport,
  Stopped,
  Unlocked,
  Withdrawn,
} from '../../functions/contract/reports.ts'
import type { WarnedFile } from '../../functions/contract/warnings.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import type { Preview } from '../../functions/job/staging/preview-source.ts'
import type { ChangeSinks } from './changes.ts'
import type { Judging } from './check-source.ts'
import type { Diagnosis } from './finding.ts'
import type { ExportedSet, SetDifference } from './job-set.ts'
import type { Progress } from './progress.ts'
import type { Named, Proposal, SampleOptions } from './proposal.ts'
import type { WrittenReport } from './report.ts'
import type { OnRows, ResumeOptions, Started, StartOptions, StartPlan, Validation } from './start-plan.ts'

/**
 * What an operator can do: the one module behind the command and the console. It talks to AWS, or to the local stack,
 * through the AWS SDK under the operator's own credentials, and keeps nothing but its last looks at a run, which tell
 * the speed.
 */
export type Operations = {
  readonly stage: string
  /** The caller as AWS names it. */
  readonly identity: () => Promise<string>
  readonly validate: (path: string, judging: Judging, onRows?: OnRows) => Promise<Validation>
  /** Reads the file and compares it; `source` is a path here or a key under incoming/. The signal ends it half way. */
  readonly planStart: (
    slice: SliceName,
    source: StartPlan['source'],
    onRows?: OnRows,
    signal?: AbortSignal,
    sinks?: ChangeSinks,
  ) => Promise<StartPlan>
  /** Keeps a plan, and its file, in the bucket, so that `start --plan` starts exactly it. Nothing is started. @returns its ID */
  readonly keepPlan: (plan: StartPlan) => Promise<string>
  /** Looks at a kept plan's start again. @throws OperationError PlanMoved where anything is not as it was planned */
  readonly keptPlan: (id: string, onRows?: OnRows, signal?: AbortSignal) => Promise<StartPlan>
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
    /** Files of the schedule that wait for somebody to confirm their warnings. */
    readonly warned: readonly WarnedFile[]
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
  /** Takes a job's set, which readers see, from them. No row is deleted: `undo` shows it again. */
  readonly withdraw: (job: number, why: string) => Promise<Withdrawn>
  readonly distributors: () => Promise<readonly DistributorLine[]>
  readonly putDistributor: (
    mode: 'add' | 'set',
    distributor: DistributorFields,
    why: string,
  ) => Promise<DistributorLine>
  /** How a distributor writes its files: the newest version, or one of them. */
  readonly profile: (distributor: string, version?: number) => Promise<ProfileReport>
  /** What a profile makes of the first rows of a file of this machine. The signal ends it half way. */
  readonly testProfile: (path: string, judging: Judging, signal: AbortSignal) => Promise<Preview>
  /** A profile for files like this one, for a person to look at. */
  readonly proposeProfile: (
    path: string,
    options: SampleOptions,
    named: Named,
    signal: AbortSignal,
  ) => Promise<Proposal>
  /** Adds a version, which counts from the next file on. */
  readonly setProfile: (distributor: string, profile: Profile, why: string) => Promise<ProfileReport>
  /** The report of a refused or warned file: of an execution, or the newest of the slice. */
  readonly report: (slice: SliceName, form: ReportForm, execution?: string) => Promise<WrittenReport>
  /** The exact rows of a job, from its staged source. */
  readonly exportSet: (job: number) => Promise<ExportedSet>
  /** How the sets of two jobs differ; all changed rows, then all parties, go on as lines of CSV. */
  readonly diffSets: (
    jobs: { readonly before: number; readonly after: number },
    sinks?: ChangeSinks,
  ) => Promise<SetDifference>
  readonly doctor: (from: string, to: string) => Promise<Diagnosis>
  readonly audit: (filter: Partial<SliceName> & { readonly limit?: number }) => Promise<readonly AuditLine[]>
}
