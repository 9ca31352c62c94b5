import type { Checks, OpenJobCheck } from '../../../contract/checks.ts'
import { monthsFrom } from '../../../contract/months.ts'
import { OPEN_JOBS_SHOWN } from '../../../contract/support-limits.ts'
import type { Slice } from '../../../contract/words.ts'
import { activeDistributors } from '../../../store/distributor.ts'
import type { NamedJob } from '../../../store/job/row.ts'
import { lineOf, openJobs, shownJobs } from '../../../store/job/slice-lines.ts'
import type { SeenLock } from '../../../store/lock/inspect.ts'
import { reading, statement } from '../../../store/mysql/transaction.ts'
import type { Reader } from '../../../store/mysql/tx.ts'
import { databaseCheck, refusedCheck, unpublishedCheck } from '../../../store/schema/health.ts'
import { warnedFiles } from '../../../store/warned.ts'
import type { TaskContext } from '../../task.ts'
import { lockReport, type SeenLocks, seeLocks } from './locks.ts'
import { type MonthRange, newestOf } from './slices.ts'

type Named = Pick<Slice, 'distributor' | 'month'>

const key = ({ distributor, month }: Named): string => `${distributor} ${month}`

/**
 * What MySQL and Valkey tell of disagreements. Open jobs are those of all months, for one that was forgotten is older
 * than anybody's range; shown sets and stray locks are those of the range.
 *
 * A lock is stray where it is there both before and after the jobs were read, and the slice's job does not carry its
 * token. A run between AcquireLock and OpenJob looks like that for a moment.
 */
export const checks = async (context: TaskContext, range: MonthRange): Promise<Checks> => {
  const { database } = context
  const asked = await statement(database, (reader) => slicesToAsk(reader, range))
  const before = await seeLocks(context, asked)
  const seen = await reading(database, async (reader) => ({
    database: await databaseCheck(reader),
    unpublished: await unpublishedCheck(reader),
    refusedEvents: await refusedCheck(reader),
    open: await openJobs(reader, OPEN_JOBS_SHOWN),
    newest: await newestOf(reader, range),
    shown: await shownJobs(reader, range),
    warned: await warnedFiles(reader, range),
  }))
  const lockOf = lookup(asked, before)
  return {
    database: seen.database,
    lockProblem: before.problem,
    openJobs: seen.open.map((job): OpenJobCheck => {
      const lock = lockOf(job)
      return {
        ...lineOf(job),
        quietS: job.quietS,
        lock: lock === 'unreachable' ? lock : lockReport(lock, [job]),
      }
    }),
    strayLocks: await strayLocks(context, asked, before, [...seen.open, ...seen.newest]),
    unpublished: seen.unpublished,
    refusedEvents: seen.refusedEvents,
    warned: seen.warned,
    shown: seen.shown.map(shownLine),
  }
}

/**
 * Slices that may have a lock: those with a job, of active distributors in the range, and of open jobs of any month.
 */
const slicesToAsk = async (reader: Reader, range: MonthRange): Promise<Named[]> => {
  const active = await activeDistributors(reader)
  const named: Named[] = [
    ...(await openJobs(reader, OPEN_JOBS_SHOWN)),
    ...(await newestOf(reader, range)),
    ...monthsFrom(range.from, range.to).flatMap((month) => active.map(({ code }) => ({ distributor: code, month }))),
  ]
  return [...new Map(named.map(({ distributor, month }) => [key({ distributor, month }), { distributor, month }]))].map(
    ([, slice]) => slice,
  )
}

const lookup = (asked: readonly Named[], { locks }: SeenLocks) => {
  const byKey = new Map(asked.map((slice, index) => [key(slice), locks?.[index] ?? null]))
  return (slice: Named): SeenLock | null | 'unreachable' =>
    locks === null ? 'unreachable' : (byKey.get(key(slice)) ?? null)
}

const strayLocks = async (
  context: TaskContext,
  asked: readonly Named[],
  { locks }: SeenLocks,
  jobs: readonly NamedJob[],
): Promise<Checks['strayLocks']> => {
  const carried = new Set(jobs.flatMap(({ lock_token }) => (lock_token === null ? [] : [lock_token])))
  const suspects = asked.flatMap((slice, index) => {
    const lock = locks?.[index]
    return lock === null || lock === undefined || carried.has(lock.token) ? [] : [{ slice, lock }]
  })
  const again = await seeLocks(
    context,
    suspects.map(({ slice }) => slice),
  )
  return suspects.flatMap(({ slice, lock }, index) => {
    const now = again.locks?.[index]
    const report = now?.token === lock.token ? lockReport(now, []) : null
    return report === null ? [] : [{ ...slice, lock: report }]
  })
}

const shownLine = (job: NamedJob): Checks['shown'][number] => ({
  distributor: job.distributor,
  month: job.month,
  job: job.id,
  digest: job.source_digest,
  rows: job.source_rows,
  shareSum: job.source_share_sum,
})
