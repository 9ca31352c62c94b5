import { Failure } from '../../../contract/failures.ts'
import type { SliceReport } from '../../../contract/reports.ts'
import { SLICE_AUDIT_SHOWN, SLICE_JOBS_SHOWN } from '../../../contract/support-limits.ts'
import type { Slice } from '../../../contract/words.ts'
import { activeSet } from '../../../store/active-set.ts'
import { auditLines } from '../../../store/audit.ts'
import { findDistributor } from '../../../store/distributor.ts'
import { heldOf } from '../../../store/held-set.ts'
import { jobOf, jobReport, jobsOfSlice, phasesOf, sliceOfJob } from '../../../store/job/report.ts'
import type { JobRow } from '../../../store/job/row.ts'
import { undoTarget } from '../../../store/job/undo-target.ts'
import { reading, statement } from '../../../store/mysql/transaction.ts'
import type { Reader } from '../../../store/mysql/tx.ts'
import type { TaskContext } from '../../task.ts'
import { lockReport, seeLocks } from './locks.ts'

/**
 * One slice with its jobs, its lock and its audit trail.
 *
 * The lock is read first: a job opened under it in between is then seen with its token, and not taken for a stranger's.
 *
 * @throws Failure UnknownDistributor
 */
export const sliceReport = async (
  context: TaskContext,
  { distributor, month }: Pick<Slice, 'distributor' | 'month'>,
  asked?: number,
): Promise<SliceReport> => {
  const { database } = context
  const { locks } = await seeLocks(context, [{ distributor, month }])
  return await reading(database, async (reader) => {
    const { id: distributorId } = await findDistributor(reader, distributor)
    const slice = { distributorId, distributor, month }
    const jobs = await withAsked(reader, await jobsOfSlice(reader, slice, SLICE_JOBS_SHOWN), asked)
    const digests = [...new Set(jobs.map((job) => job.source_digest))]
    const held = await heldOf(reader, digests)
    const active = await activeSet(reader, slice)
    const target = await undoTarget(reader, slice)
    const phases = await phasesOf(
      reader,
      jobs.map(({ id }) => id),
    )
    return {
      distributor,
      month,
      jobs: jobs.map((job) => {
        const left = held.get(job.source_digest)
        return { ...jobReport(job, phases), ...(left && { held: left }) }
      }),
      active: active?.job ?? null,
      undo: target === undefined ? null : { job: target.id, digest: target.source_digest },
      lock: locks === null ? 'unreachable' : lockReport(locks[0], jobs),
      audit: await auditLines(reader, { distributor, month, limit: SLICE_AUDIT_SHOWN }),
    }
  })
}

/** A job that was asked for by its number is shown, however many came after it: its set may be asked for years later. */
const withAsked = async (reader: Reader, newest: JobRow[], asked: number | undefined): Promise<JobRow[]> =>
  asked === undefined || newest.some(({ id }) => id === asked) ? newest : [...newest, ...(await jobOf(reader, asked))]

/** The same for the slice of a job, with that job however old it is. @throws Failure UnknownJob */
export const jobReportOf = async (context: TaskContext, job: number): Promise<SliceReport> =>
  await sliceReport(context, await knownSliceOf(context, job), job)

/** @throws Failure UnknownJob */
export const knownSliceOf = async ({ database }: TaskContext, job: number): Promise<Slice> => {
  const slice = await statement(database, (reader) => sliceOfJob(reader, job))
  if (slice === undefined) throw unknownJob(job)
  return slice
}

export const unknownJob = (job: number): Failure => new Failure('UnknownJob', `No job has the number ${job}.`)
