import { MetricUnit } from '@aws-lambda-powertools/metrics'
import { planItems } from '../contract/chunks.ts'
import { Failure } from '../contract/failures.ts'
import { DELETE_PLANS_MAX } from '../contract/limits.ts'
import type { Guarded, ItemsOutput, JobMessage } from '../contract/messages.ts'
import { counted } from '../contract/numbers.ts'
import { type Phase, sliceName } from '../contract/words.ts'
import { type Acquisition, acquisitionOf, guardExclusive, requireOurs } from '../store/job/guard.ts'
import { exclusively } from '../store/job/held.ts'
import { insertRegisterPlan, progressOf, replaceDeletePlan, unmarkedChunks } from '../store/job/ledger.ts'
import { countDeletePlan, markState } from '../store/job/mark-state.ts'
import { writeEvent } from '../store/job/outbox.ts'
import { heldMs } from '../store/job/row.ts'
import { statement } from '../store/mysql/transaction.ts'
import type { Reader } from '../store/mysql/tx.ts'
import { readManifest } from '../store/s3/staged.ts'
import { isSliceEmpty, planRanges, totalsOf } from '../store/share-ratio.ts'
import type { TaskContext } from './task.ts'
import { verifyLock } from './verify-lock.ts'
import { heldEvent, requireWholeFile } from './whole-file.ts'

/*
 * The single-step tasks of a job. Each changes the state with the job row held exclusively, so that no chunk is in flight,
 * and answers a repetition of itself with the result of the first time.
 */

/**
 * Writes the delete ranges of what the slice holds now into the ledger.
 * See decisions.md, "Delete plans are appended, never renumbered".
 */
export const planDelete = async (context: TaskContext, input: Guarded): Promise<ItemsOutput> => {
  const { database } = context
  await verifyLock(context, input)
  // The walk may take seconds in a large slice, so it runs before the row is taken. Rows that appear after it fall into
  // one of its ranges, or MarkDeleted finds them and sends the job back here.
  const ranges = await statement(database, (reader) => planRanges(reader, input.slice))
  const by = acquisitionOf(input)
  return await exclusively(database, by.id, async (held) => {
    const guarded = await guardExclusive(held, by, 'DELETING')
    await countDeletePlan(guarded)
    await replaceDeletePlan(guarded, ranges)
    return await itemsOf(guarded, by.id, 'delete')
  })
}

/**
 * DELETING -> DELETED, where every chunk is marked and the slice is seen empty in the same transaction.
 *
 * @throws Failure SliceNotEmpty (plan again) or, after DELETE_PLANS_MAX plans, SliceKeepsFilling
 */
export const markDeleted = async (context: TaskContext, input: Guarded): Promise<JobMessage> => {
  const { database } = context
  await verifyLock(context, input)
  const by = acquisitionOf(input)
  return await exclusively(database, by.id, async (held) => {
    const guarded = await guardExclusive(held, by, 'DELETING', 'DELETED')
    if (guarded.state === 'DELETING') {
      const progress = await progressOf(guarded, by.id, 'delete')
      if (progress.marked < progress.chunks || !(await isSliceEmpty(guarded, input.slice)))
        throw notEmpty(input, guarded.job.delete_plans)
      await markState(guarded, 'DELETED')
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
        `${sliceName(input.slice)} still holds rows after ${plans} plans: another program keeps inserting.`,
        details,
      )
}

/** DELETED -> REGISTERING with the manifest's chunks in the ledger; in REGISTERING already, only says what is left. */
export const beginRegistering = async (context: TaskContext, input: Guarded): Promise<ItemsOutput> => {
  const { database } = context
  await verifyLock(context, input)
  const by = acquisitionOf(input)
  const { source_digest } = await statement(database, (reader) => requireOurs(reader, by, 'DELETED', 'REGISTERING'))
  const manifest = await readManifest(context.s3, context.env.BUCKET, source_digest)
  return await exclusively(database, by.id, async (held) => {
    const guarded = await guardExclusive(held, by, 'DELETED', 'REGISTERING')
    if (guarded.state === 'DELETED') {
      await insertRegisterPlan(guarded, manifest.chunks)
      await markState(guarded, 'REGISTERING')
    }
    return await itemsOf(guarded, by.id, 'register')
  })
}

/**
 * REGISTERING -> REGISTERED, where the slice's row count and exact sum of shares are the manifest's.
 * See decisions.md, "MarkRegistered counts before it takes the row".
 *
 * @throws Failure ChunksUnfinished, SliceMismatch
 */
export const markRegistered = async (context: TaskContext, input: Guarded): Promise<JobMessage> => {
  const { database } = context
  await verifyLock(context, input)
  const by = acquisitionOf(input)
  // Counting may take seconds in a large slice, so it runs before the row is taken. Every chunk is marked by then, so
  // nothing changes the slice behind it but a run with a newer fence, which the guard finds.
  const before = await statement(database, (reader) => countRegistered(reader, by, input.slice))
  return await exclusively(database, by.id, async (held) => {
    const guarded = await guardExclusive(held, by, 'REGISTERING', 'REGISTERED')
    if (guarded.state === 'REGISTERING') {
      const { job } = guarded
      // Again, with the row held: a restore of the database may have taken chunks back behind the count, marks and all.
      await requireEveryMark(guarded, by)
      const totals = before ?? (await totalsOf(guarded, input.slice))
      if (totals.rows !== Number(job.source_rows) || totals.shareSum !== job.source_share_sum)
        throw new Failure(
          'SliceMismatch',
          `${sliceName(input.slice)} holds ${counted(totals.rows, 'row')} summing to ${totals.shareSum}, the file has ${counted(Number(job.source_rows), 'row')} summing to ${job.source_share_sum}: another program wrote to the slice.`,
          { job: by.id, fence: by.fence, state: guarded.state },
        )
      const details = { job: by.id, fence: by.fence, state: guarded.state }
      const held = await requireWholeFile(guarded, input.slice, job.source_digest, totals, details)
      await markState(guarded, 'REGISTERED')
      context.metrics.addMetric('lock.hold.duration', MetricUnit.Milliseconds, await heldMs(guarded, by.id))
      await writeEvent(guarded, by.id, 'JobRegistered', {
        distributor: input.slice.distributor,
        month: input.slice.month,
        job: by.id,
        fence: by.fence,
        source: job.source_digest,
        rows: totals.rows,
        shareSum: totals.shareSum,
        ...heldEvent(held),
      })
    }
    return { ...input.job, state: 'REGISTERED' }
  })
}

/** What the slice holds once every chunk is marked; null where the job is REGISTERED already. */
const countRegistered = async (reader: Reader, by: Acquisition, slice: Guarded['slice']) => {
  const { state } = await requireOurs(reader, by, 'REGISTERING', 'REGISTERED')
  if (state === 'REGISTERED') return null
  await requireEveryMark(reader, by)
  return await totalsOf(reader, slice)
}

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

const itemsOf = async (reader: Reader, job: number, phase: Phase): Promise<ItemsOutput> => {
  const chunks = await unmarkedChunks(reader, job, phase)
  return { chunks: chunks.length, items: planItems(chunks.map((chunk) => chunk.number)) }
}
