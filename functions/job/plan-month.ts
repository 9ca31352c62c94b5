import { createHash } from 'node:crypto'
import { MetricUnit } from '@aws-lambda-powertools/metrics'
import pMap from 'p-map'
import { dispatchedFile, dispatchedName, dispatchedRun, FILE_MARK_DIGITS } from '../contract/dispatched.ts'
import { Failure } from '../contract/failures.ts'
import { FILE_ENDINGS, type PlanMonthInput, type PlanMonthOutput } from '../contract/month-messages.ts'
import { monthAt } from '../contract/months.ts'
import { DISPATCH_TRIES_MAX, DISTRIBUTORS_MAX, REASON_CHARS_MAX } from '../contract/support-limits.ts'
import { warningNames } from '../contract/warnings.ts'
import { endedOf } from '../store/job/execution.ts'
import { activeSlices, type MonthSlice } from '../store/job/month.ts'
import { isoTime } from '../store/mysql/time.ts'
import { statement } from '../store/mysql/transaction.ts'
import { listObjects } from '../store/s3/objects.ts'
import { warnedFiles } from '../store/warned.ts'
import type { TaskContext } from './task.ts'

/** S3 calls at once: enough for a thousand distributors in seconds, few enough for one sandbox's sockets. */
const LISTS_AT_ONCE = 10

/** Characters of a person's name in a reason, its last: an ARN ends with who it is. */
const NAME_CHARS_MAX = 30

/** A distributor's file of the month; `fileTag` is another one for another delivery. */
type Delivered = { readonly ending: (typeof FILE_ENDINGS)[number]; readonly fileTag: string }

/**
 * Which executions a month needs: one for each active distributor whose file is there, under its agreed name. Two files
 * of one distributor are as good as none: which one is meant, a person says.
 *
 * A month may be dispatched again at any time, so a slice that has a job already is looked at first:
 *
 * - whose newest job somebody else started is left alone: a correction is never put back by the file that it corrects;
 * - the dispatch's own job of this very delivery is done or running (`already`), or halted: then it is resumed;
 * - a set of its own that an operator withdrew is not shown again by the same delivery;
 * - its own REGISTERED job of another delivery is followed by this one;
 * - its own halted job of another delivery is left alone: closing it is a person's decision;
 * - a delivery that was refused for its warnings waits for a person too, who starts it and confirms them.
 *
 * Each start carries the head that was seen here, so that somebody's job that comes in between wins as well. A run that
 * ended and left that very head opened no job (an outage, a refused file), so it is started anew, under its next name.
 * See decisions.md, "A month dispatched again leaves corrections alone".
 *
 * @throws Failure StorageUnreachable, DatabaseUnreachable, InvalidInput (too many distributors)
 */
export const planMonth = async (
  context: TaskContext,
  { request, monthsBack }: PlanMonthInput,
): Promise<PlanMonthOutput> => {
  const month = 'month' in request ? request.month : monthAt(request.scheduledAt, monthsBack)
  const slices = await statement(context.database, (reader) => activeSlices(reader, month))
  if (slices.length > DISTRIBUTORS_MAX)
    throw new Failure(
      'InvalidInput',
      `There are ${slices.length} active distributors and one dispatch starts ${DISTRIBUTORS_MAX} at most; deactivate some`,
    )
  const plan: Lists = { planned: [], already: [], left: [], missing: [], warned: [] }
  const files = await pMap(slices, ({ distributor }) => filesOf(context, distributor, month), {
    concurrency: LISTS_AT_ONCE,
  })
  for (const [index, slice] of slices.entries()) decide(plan, slice, month, files[index] ?? [])
  await keepWarned(context, plan, month)
  const { planned, already, left, missing, warned } = plan
  const starts = await named(context, month, planned)
  context.metrics.addMetric('month.missing', MetricUnit.Count, missing.length)
  context.metrics.addMetric('month.left', MetricUnit.Count, left.length)
  context.metrics.addMetric('source.warned', MetricUnit.Count, warned.length)
  if (missing.length > 0) context.logger.warn('distributors without a file', { month, missing })
  if (left.length > 0) context.logger.warn('distributors left alone', { month, left })
  if (warned.length > 0) context.logger.warn('files with warnings that nobody has confirmed', { month, warned })
  const counts = { missingCount: missing.length, leftCount: left.length, warnedCount: warned.length }
  return { month, starts, already, left, missing, warned, ...counts }
}

/** A start before it has a name; `attempt` is the number of it that the name will carry. */
type Planned = Omit<PlanMonthOutput['starts'][number], 'run'> & { readonly fileTag: string; readonly attempt: number }
type Lists = Pick<PlanMonthOutput, 'already' | 'left' | 'missing' | 'warned'> & { planned: Planned[] }

/** Moves what was refused for its warnings out of what is started: another delivery is another file. */
const keepWarned = async ({ database }: TaskContext, plan: Lists, month: string): Promise<void> => {
  const waiting = await statement(database, (reader) => warnedFiles(reader, { from: month, to: month }))
  const found = ({ distributor, fileTag }: Planned) =>
    waiting.find((file) => file.distributor === distributor && fileTagOf(file.key, file.etag) === fileTag)
  for (const start of plan.planned) {
    const file = found(start)
    if (file === undefined) continue
    const reason = `warnings of ${file.key}: ${warningNames(file.warnings)}`.slice(0, REASON_CHARS_MAX)
    plan.warned.push({ distributor: start.distributor, reason })
  }
  plan.planned = plan.planned.filter((start) => found(start) === undefined)
}

/** Gives each start the first of its names under which no execution has ended. */
const named = async (
  { database }: TaskContext,
  month: string,
  planned: readonly Planned[],
): Promise<PlanMonthOutput['starts']> => {
  const runOf = ({ fileTag, head, attempt }: Planned): string => dispatchedRun(fileTag, head, attempt)
  const nameOf = (start: Planned): string => dispatchedName(start.distributor, month, runOf(start))
  let starts = planned
  for (let attempt = 2; attempt <= DISPATCH_TRIES_MAX; attempt += 1) {
    const names = starts.map(nameOf)
    const ended = await statement(database, (reader) => endedOf(reader, names))
    if (ended.size === 0) break
    starts = starts.map((start) => (ended.has(nameOf(start)) ? { ...start, attempt } : start))
  }
  return starts.map((start) => ({
    distributor: start.distributor,
    ending: start.ending,
    run: runOf(start),
    head: start.head,
  }))
}

/** Puts a slice into the one list that it belongs to. */
const decide = (plan: Lists, slice: MonthSlice, month: string, files: readonly Delivered[]): void => {
  const { distributor } = slice
  const own =
    slice.id === null
      ? null
      : dispatchedFile({ distributor, month }, { execution: slice.execution, requestedBy: slice.requested_by })
  if (slice.id !== null && own === null) {
    plan.left.push({ distributor, reason: reasonOf(slice) })
    return
  }
  const [file, other] = files
  if (file === undefined && slice.state === 'REGISTERED' && slice.withdrawn_at === null)
    plan.already.push({ distributor, job: slice.id })
  else if (file === undefined) plan.missing.push({ distributor, reason: 'no file' })
  else if (other !== undefined)
    plan.missing.push({ distributor, reason: `two files: ${month}.${file.ending} and ${month}.${other.ending}` })
  else if (slice.id === null) plan.planned.push({ distributor, ...file, head: null, attempt: 1 })
  else decideOnOwn(plan, slice, own === file.fileTag, file)
}

/** @param isSame true where the job's file is the one that is there now */
const decideOnOwn = (plan: Lists, job: Job, isSame: boolean, file: Delivered): void => {
  const { distributor, id, fence, state } = job
  const isRegistered = state === 'REGISTERED'
  if (isSame && job.withdrawn_at !== null) plan.left.push({ distributor, reason: reasonOf(job) })
  else if (isSame && (isRegistered || job.halted_at === null)) plan.already.push({ distributor, job: id })
  else if (!isSame && !isRegistered) plan.left.push({ distributor, reason: reasonOf(job, ', of an earlier delivery') })
  else {
    plan.planned.push({ distributor, ...file, head: { job: id, fence, state }, attempt: 1 })
  }
}

type Job = Exclude<MonthSlice, { id: null }>

const reasonOf = (job: Job, more = ''): string => `${whatBecameOf(job)}${more}`.slice(0, REASON_CHARS_MAX)

const whatBecameOf = (job: Job): string => {
  const by = `job ${job.id}, requested by ${job.requested_by.slice(-NAME_CHARS_MAX)}`
  if (job.withdrawn_at !== null) return `${by}, withdrawn at ${isoTime(job.withdrawn_at)}`
  if (job.registered_at !== null) return `${by}, REGISTERED at ${isoTime(job.registered_at)}`
  if (job.halted_at !== null) return `${by}, halted at ${isoTime(job.halted_at)} by ${job.halt_error}`
  return `${by}, running since ${isoTime(job.opened_at)}`
}

/** The distributor's files of a month, under the names that they may have. */
const filesOf = async ({ s3, env }: TaskContext, code: string, month: string): Promise<Delivered[]> => {
  const name = `incoming/${code}/${month}.`
  const objects = await listObjects(s3, env.BUCKET, name)
  return objects.flatMap(({ key, etag }) => {
    const ending = FILE_ENDINGS.find((each) => key === `${name}${each}`)
    return ending === undefined ? [] : [{ ending, fileTag: fileTagOf(key, etag) }]
  })
}

/** An ETag is of one content; its form is S3's own business. */
const fileTagOf = (key: string, etag: string): string =>
  createHash('sha256').update(`${key}\n${etag}`).digest('hex').slice(0, FILE_MARK_DIGITS)
