import { MetricUnit } from '@aws-lambda-powertools/metrics'
import { planItems } from '../contract/chunks.ts'
import { Failure } from '../contract/failures.ts'
import { DELETE_PLANS_MAX } from '../contract/limits.ts'
import type { Guarded, ItemsOutput, JobMessage } from '../contract/messages.ts'
import { type Phase, sliceName } from '../contract/words.ts'
import { countDeletePlan, type Guard, guardExclusive, guardOf, markState } from '../store/job/guard.ts'
import { insertRegisterPlan, progressOf, replaceDeletePlan, unmarkedChunks } from '../store/job/ledger.ts'
import { writeEvent } from '../store/job/outbox.ts'
import { heldMs } from '../store/job/row.ts'
import { exclusively, statement } from '../store/mysql/transaction.ts'
import { readManifest } from '../store/s3/staged.ts'
import { isSliceEmpty, planRanges, totalsOf } from '../store/share-ratio.ts'
import type { Run } from './task.ts'
import { verifyLock } from './verify-lock.ts'

/*
 * The single-step tasks of a job. Each changes the state with the job row held exclusively, so that no chunk is in flight,
 * and answers a repetition of itself with the result of the first time.
 */

/** Writes the delete ranges of what the slice holds now into the ledger. */
export const planDelete = async (run: Run, input: Guarded): Promise<ItemsOutput> => {
  const { database } = run
  await verifyLock(run, input)
  // The walk may take seconds in a large slice, so it runs before the row is taken. Rows that appear after it fall into
  // one of its ranges, or MarkDeleted finds them and sends the job back here.
  const ranges = await statement(database, () => planRanges(database, input.slice))
  const guard = guardOf(input, 'DELETING')
  return await exclusively(database, guard.id, async () => {
    await guardExclusive(database, guard)
    await countDeletePlan(database, guard)
    await replaceDeletePlan(database, guard.id, ranges)
    return await itemsOf(run, guard.id, 'delete')
  })
}

/**
 * DELETING -> DELETED, where every chunk is marked and the slice is seen empty in the same transaction.
 *
 * @throws Failure SliceNotEmpty (plan again) or, after DELETE_PLANS_MAX plans, SliceKeepsFilling
 */
export const markDeleted = async (run: Run, input: Guarded): Promise<JobMessage> => {
  const { database } = run
  await verifyLock(run, input)
  const guard = guardOf(input, 'DELETING')
  return await exclusively(database, guard.id, async () => {
    const job = await guardExclusive(database, guard, 'DELETED')
    if (job.state === 'DELETING') {
      const progress = await progressOf(database, guard.id, 'delete')
      if (progress.marked < progress.chunks || !(await isSliceEmpty(database, input.slice)))
        throw notEmpty(input, job.delete_plans)
      await markState(database, guard, 'DELETED')
    }
    return { ...input.job, state: 'DELETED' }
  })
}

const notEmpty = (input: Guarded, plans: number): Failure => {
  const details = { job: input.job.id, fence: input.job.fence, state: 'DELETING' } as const
  return plans < DELETE_PLANS_MAX
    ? new Failure(
        'SliceNotEmpty',
        `${sliceName(input.slice)} still holds rows; they are planned and deleted next`,
        details,
      )
    : new Failure(
        'SliceKeepsFilling',
        `${sliceName(input.slice)} still holds rows after ${plans} plans: another program keeps inserting. Stop it, then resume.`,
        details,
      )
}

/** DELETED -> REGISTERING with the manifest's chunks in the ledger; in REGISTERING already, only says what is left. */
export const beginRegistering = async (run: Run, input: Guarded): Promise<ItemsOutput> => {
  const { database } = run
  await verifyLock(run, input)
  const guard = guardOf(input, 'DELETED')
  const { source_digest } = await statement(database, () => guardExclusive(database, guard, 'REGISTERING'))
  const manifest = await readManifest(run.s3, run.env.BUCKET, source_digest)
  return await exclusively(database, guard.id, async () => {
    const job = await guardExclusive(database, guard, 'REGISTERING')
    if (job.state === 'DELETED') {
      await insertRegisterPlan(database, guard.id, manifest.chunks)
      await markState(database, guard, 'REGISTERING')
    }
    return await itemsOf(run, guard.id, 'register')
  })
}

/**
 * REGISTERING -> REGISTERED, where the slice's row count and exact sum of shares are the manifest's.
 *
 * @throws Failure ChunksUnfinished, SliceMismatch
 */
export const markRegistered = async (run: Run, input: Guarded): Promise<JobMessage> => {
  const { database } = run
  await verifyLock(run, input)
  const guard = guardOf(input, 'REGISTERING')
  // Counting may take seconds in a large slice, so it runs before the row is taken. Every chunk is marked by then, so
  // nothing changes the slice behind it but a run with a newer fence, which the guard finds.
  const counted = await statement(database, () => countRegistered(run, guard, input.slice))
  return await exclusively(database, guard.id, async () => {
    const job = await guardExclusive(database, guard, 'REGISTERED')
    if (job.state === 'REGISTERING') {
      // Again, with the row held: a restore of the database may have taken chunks back behind the count, marks and all.
      await requireEveryMark(run, guard)
      const totals = counted ?? (await totalsOf(database, input.slice))
      if (totals.rows !== Number(job.source_rows) || totals.shareSum !== job.source_share_sum)
        throw new Failure(
          'SliceMismatch',
          `${sliceName(input.slice)} holds ${totals.rows} rows summing to ${totals.shareSum}, the file has ${job.source_rows} summing to ${job.source_share_sum}: another program wrote to the slice. Stop it, then start again with "supersede" and "force".`,
          { job: guard.id, fence: guard.fence, state: guard.state },
        )
      await markState(database, guard, 'REGISTERED')
      run.metrics.addMetric('lock.hold.duration', MetricUnit.Milliseconds, await heldMs(database, guard.id))
      await writeEvent(database, guard.id, 'JobRegistered', {
        distributor: input.slice.distributor,
        month: input.slice.month,
        job: guard.id,
        fence: guard.fence,
        source: job.source_digest,
        rows: totals.rows,
        shareSum: totals.shareSum,
      })
    }
    return { ...input.job, state: 'REGISTERED' }
  })
}

/** What the slice holds once every chunk is marked; null where the job is REGISTERED already. */
const countRegistered = async (run: Run, guard: Guard, slice: Guarded['slice']) => {
  const { database } = run
  const job = await guardExclusive(database, guard, 'REGISTERED')
  if (job.state === 'REGISTERED') return null
  await requireEveryMark(run, guard)
  return await totalsOf(database, slice)
}

/** @throws Failure ChunksUnfinished */
const requireEveryMark = async ({ database }: Run, guard: Guard): Promise<void> => {
  const progress = await progressOf(database, guard.id, 'register')
  if (progress.marked === progress.chunks && progress.chunks > 0) return
  throw new Failure(
    'ChunksUnfinished',
    `${progress.marked} of ${progress.chunks} chunks are registered; resume the job`,
    { job: guard.id, fence: guard.fence, state: guard.state },
  )
}

const itemsOf = async (run: Run, job: number, phase: Phase): Promise<ItemsOutput> => {
  const chunks = await unmarkedChunks(run.database, job, phase)
  return { chunks: chunks.length, items: planItems(chunks.map((chunk) => chunk.number)) }
}
