import { Failure } from '../contract/failures.ts'
import type { Guarded, JobMessage } from '../contract/messages.ts'
import { counted } from '../contract/numbers.ts'
import { type Comparison, compareSet } from '../store/compare-set.ts'
import { type Acquisition, acquisitionOf, guardExclusive, requireOurs } from '../store/job/guard.ts'
import { exclusively } from '../store/job/held.ts'
import { progressOf } from '../store/job/ledger.ts'
import type { JobRow } from '../store/job/row.ts'
import { statement } from '../store/mysql/transaction.ts'
import type { Reader } from '../store/mysql/tx.ts'
import { readManifest } from '../store/s3/staged.ts'
import { finishJob, mismatch, untilShown } from './show-set.ts'
import type { TaskContext } from './task.ts'
import { verifyLock } from './verify-lock.ts'

/**
 * REGISTERING -> REGISTERED, where the slot's rows are the manifest's in number, exact sum and every column; in the same
 * transaction readers are switched to it.
 * See decisions.md, "MarkRegistered compares before it takes the row".
 *
 * @throws Failure ChunksUnfinished, SliceMismatch, ReadersInTheWay
 */
export const markRegistered = async (context: TaskContext, input: Guarded): Promise<JobMessage> => {
  const { database } = context
  await verifyLock(context, input)
  const by = acquisitionOf(input)
  // Comparing may take seconds in a large slice, so it runs before the row is taken. Every chunk is marked by then, so
  // nothing changes the slot behind it but a run with a newer fence, which the guard finds.
  const before = await compareRegistered(context, by)
  return await untilShown(context, input, 'REGISTERING', () =>
    exclusively(database, by.id, async (held) => {
      const guarded = await guardExclusive(held, by, 'REGISTERING', 'REGISTERED')
      if (guarded.state === 'REGISTERING') {
        // Again, with the row held: a restore of the database may have taken chunks back behind the comparison, marks and
        // all, or REGISTERED itself.
        await requireEveryMark(guarded, by)
        const compared = before ?? (await compare(context, guarded, guarded.job))
        if (compared.difference !== null) throw mismatch(input, guarded.state, compared, guarded.job)
        await finishJob(context, input, guarded, compared)
      }
      return { ...input.job, state: 'REGISTERED' }
    }),
  )
}

/** The slot beside the manifest once every chunk is marked; null where the job is REGISTERED already. */
const compareRegistered = async (context: TaskContext, by: Acquisition): Promise<Comparison | null> => {
  const { database } = context
  const job = await statement(database, (reader) => requireOurs(reader, by, 'REGISTERING', 'REGISTERED'))
  if (job.state === 'REGISTERED') return null
  await statement(database, (reader) => requireEveryMark(reader, by))
  // Range by range, each at its own moment: a transaction over all of them would be the longest one of the run.
  return await statement(database, (reader) => compare(context, reader, job))
}

const compare = async ({ s3, env }: TaskContext, reader: Reader, job: JobRow): Promise<Comparison> =>
  await compareSet(reader, job, await readManifest(s3, env.BUCKET, job.source_digest))

/** @throws Failure ChunksUnfinished */
const requireEveryMark = async (reader: Reader, by: Acquisition): Promise<void> => {
  const progress = await progressOf(reader, by.id, 'register')
  if (progress.marked === progress.chunks && progress.chunks > 0) return
  throw new Failure('ChunksUnfinished', `${progress.marked} of ${counted(progress.chunks, 'chunk')} are registered`, {
    job: by.id,
    fence: by.fence,
    state: 'REGISTERING',
  })
}
