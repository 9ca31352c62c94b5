import { MetricUnit } from '@aws-lambda-powertools/metrics'
import type { EndName } from '../contract/failure-table.ts'
import { type Failure, isFailure } from '../contract/failures.ts'
import type { SweepInput } from '../contract/month-messages.ts'
import { monthAt } from '../contract/months.ts'
import { seoulTime } from '../contract/seoul-time.ts'
import { OVERDUE_NAMED_MAX, SWEEP_JOBS_MAX, SWEEP_RESERVE_MS } from '../contract/support-limits.ts'
import { sliceName } from '../contract/words.ts'
import { unregistered } from '../store/job/month.ts'
import { isHeldBy } from '../store/job/predicates.ts'
import { type QuietJob, quietJobs, readBacklog } from '../store/job/quiet-jobs.ts'
import { inspect } from '../store/lock/inspect.ts'
import { statement } from '../store/mysql/transaction.ts'
import { haltJob } from './halt-job.ts'
import { type PublishReport, publishEvents } from './publish-events.ts'
import type { TaskContext } from './task.ts'

export type SweepReport = {
  /** Jobs halted, by id. */
  readonly halted: readonly number[]
  /** Quiet jobs that somebody holds a lock of: left alone. */
  readonly locked: readonly number[]
  /** Quiet jobs of which Valkey did not say whether they are locked: left alone, until it does. */
  readonly unknown: readonly number[]
  readonly published: number
  /** Events that the topic refused in this sweep. */
  readonly refused: number
  readonly pending: number
  /** Active distributors whose month is due and was never REGISTERED. */
  readonly overdue: number
}

/**
 * Puts right what events and retries missed:
 *
 * 1. halts open jobs without a lock whose execution is known to have ended, or that made no progress for longer than an
 *    execution can last;
 * 2. publishes what is left in the outbox; 3. counts what only the whole shows; 4. fails where another program's session
 * keeps a job from being halted.
 *
 * A second run beside it, or later, finds the jobs halted and the events published.
 * See decisions.md, "The sweeper waits for longer than an execution lasts".
 *
 * @param quietS without progress for longer than this
 * @throws Failure DatabaseBlocked, behind everything else
 */
export const sweep = async (context: TaskContext, input: SweepInput, quietS?: number): Promise<SweepReport> => {
  const { blocked, ...jobs } = await haltQuietJobs(context, quietS)
  const { published, refused, pending } = await publishAll(context)
  const backlog = await statement(context.database, (reader) => readBacklog(reader))
  const { open, halted, runningAgeS, outboxAgeS, setAside } = backlog
  context.metrics.addMetric('job.open', MetricUnit.Count, open)
  context.metrics.addMetric('job.open.halted', MetricUnit.Count, halted)
  context.metrics.addMetric('job.open.age', MetricUnit.Seconds, runningAgeS ?? 0)
  context.metrics.addMetric('outbox.age', MetricUnit.Seconds, outboxAgeS ?? 0)
  context.metrics.addMetric('outbox.refused', MetricUnit.Count, setAside)
  const overdue = await lookForOverdue(context, input)
  const report = { ...jobs, published, refused, pending, overdue }
  context.logger.info('swept', { ...report, ...backlog })
  if (blocked !== undefined) throw blocked
  return report
}

/** `blocked`: a job's row is held by another program's session, which must not keep all others from being swept. */
type Looked = Pick<SweepReport, 'halted' | 'locked' | 'unknown'> & { readonly blocked: Failure | undefined }

const haltQuietJobs = async (context: TaskContext, quietS?: number): Promise<Looked> => {
  const halted: number[] = []
  const locked: number[] = []
  const unknown: number[] = []
  let blocked: Failure | undefined
  for await (const job of allQuietJobs(context, quietS)) {
    const lock = await lockOf(context, job)
    if (lock === 'held') locked.push(job.id)
    else if (lock === 'unknown') unknown.push(job.id)
    else {
      const outcome = await halt(context, job)
      if (outcome === true) halted.push(job.id)
      else if (outcome !== false) blocked = outcome
    }
  }
  return { halted, locked, unknown, blocked }
}

/** Page by page to the end: jobs that stay locked are looked at and do not hide those behind them. */
async function* allQuietJobs(context: TaskContext, quietS?: number): AsyncGenerator<QuietJob> {
  let page: QuietJob[] = []
  do {
    const last = page.at(-1)
    page = await statement(context.database, (reader) => quietJobs(reader, quietS, last))
    for (const job of page) {
      if (context.remainingMs() < SWEEP_RESERVE_MS) return
      yield job
    }
  } while (page.length === SWEEP_JOBS_MAX)
}

const lockOf = async (context: TaskContext, job: QuietJob): Promise<'held' | 'free' | 'unknown'> => {
  try {
    return (await inspect(await context.lock(), job)) === null ? 'free' : 'held'
  } catch (error) {
    context.logger.warn('whether a quiet job is locked is unknown; it is left alone', {
      job: job.id,
      error: error as Error,
    })
    return 'unknown'
  }
}

/**
 * Only under the fence and the token that were seen: a run that came back without a lock passed OpenJob, and so carries
 * a newer fence, or another token where the database went back to an earlier moment.
 *
 * @returns false where the job moved on; the failure where another program's session holds its row
 */
const halt = async (context: TaskContext, job: QuietJob): Promise<boolean | Failure> => {
  try {
    return await haltJob(context, job.id, (row) => isHeldBy(row, { ...job, token: job.lock_token }), {
      distributor: job.distributor,
      month: job.month,
      execution: job.execution,
      error: 'Abandoned' satisfies EndName,
      cause: `${sliceName(job)} had no lock, and no progress for ${Math.round(job.quietS / 60)} minutes: its execution has ended without halting it.`,
    })
  } catch (error) {
    if (!isFailure(error, 'DatabaseBlocked')) throw error
    context.logger.warn('a quiet job cannot be halted; the sweep goes on and fails at its end', { job: job.id, error })
    return error
  }
}

const publishAll = async (context: TaskContext): Promise<PublishReport> => {
  let [published, refused] = [0, 0]
  for (;;) {
    const report = await publishEvents(context)
    published += report.published
    refused += report.refused
    const moved = report.published + report.refused
    // Nothing left, or the topic is away, or the time is nearly up: the next sweep goes on.
    if (moved === 0 || report.failure !== undefined || context.remainingMs() < SWEEP_RESERVE_MS)
      return { ...report, published, refused }
  }
}

/**
 * Who should have been registered by now and is not: one correction of an older month, or one distributor that is
 * registered, says nothing about the others.
 */
const lookForOverdue = async (context: TaskContext, { registeredByDay, monthsBack }: SweepInput): Promise<number> => {
  const month = monthDue(new Date(), registeredByDay, monthsBack)
  const overdue = month === null ? [] : await statement(context.database, (reader) => unregistered(reader, month))
  context.metrics.addMetric('month.overdue', MetricUnit.Count, overdue.length)
  if (overdue.length > 0)
    context.logger.warn('the month is overdue', {
      month,
      count: overdue.length,
      overdue: overdue.slice(0, OVERDUE_NAMED_MAX),
    })
  return overdue.length
}

/**
 * The settlement month that has to be registered by now; null before its day, which is counted in Seoul.
 * See decisions.md, "A month is overdue by distributor".
 */
export const monthDue = (now: Date, registeredByDay: number, monthsBack: number): string | null =>
  Number(seoulTime(now).slice(8, 10)) < registeredByDay ? null : monthAt(now, monthsBack)
