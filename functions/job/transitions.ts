import { planItems } from '../contract/chunks.ts'
import { Failure } from '../contract/failures.ts'
import { DELETE_PLANS_MAX } from '../contract/limits.ts'
import type { Guarded, ItemsOutput, JobMessage } from '../contract/messages.ts'
import { type Phase, sliceName } from '../contract/words.ts'
import { acquisitionOf, guardExclusive, requireOurs } from '../store/job/guard.ts'
import { exclusively } from '../store/job/held.ts'
import { insertRegisterPlan, progressOf, replaceDeletePlan, unmarkedChunks } from '../store/job/ledger.ts'
import { countDeletePlan, markState } from '../store/job/mark-state.ts'
import { statement } from '../store/mysql/transaction.ts'
import type { Reader } from '../store/mysql/tx.ts'
import { readManifest } from '../store/s3/staged.ts'
import { isSlotEmpty, planRanges } from '../store/share-ratio.ts'
import type { TaskContext } from './task.ts'
import { verifyLock } from './verify-lock.ts'

/*
 * The single-step tasks of a job. Each changes the state with the job row held exclusively, so that no chunk is in flight,
 * and answers a repetition of itself with the result of the first time.
 */

/**
 * Writes the delete ranges of what the job's slot holds now into the ledger.
 * See decisions.md, "Delete plans are appended, never renumbered".
 */
export const planDelete = async (context: TaskContext, input: Guarded): Promise<ItemsOutput> => {
  const { database } = context
  await verifyLock(context, input)
  // The walk may take seconds in a large slice, so it runs before the row is taken. Rows that appear after it fall into
  // one of its ranges, or MarkDeleted finds them and sends the job back here.
  const by = acquisitionOf(input)
  const ranges = await statement(database, async (reader) =>
    planRanges(reader, await requireOurs(reader, by, 'DELETING')),
  )
  return await exclusively(database, by.id, async (held) => {
    const guarded = await guardExclusive(held, by, 'DELETING')
    await countDeletePlan(guarded)
    await replaceDeletePlan(guarded, ranges)
    return await itemsOf(guarded, by.id, 'delete')
  })
}

/**
 * DELETING -> DELETED, where every chunk is marked and the slot is seen empty in the same transaction.
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
      if (progress.marked < progress.chunks || !(await isSlotEmpty(guarded)))
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

const itemsOf = async (reader: Reader, job: number, phase: Phase): Promise<ItemsOutput> => {
  const chunks = await unmarkedChunks(reader, job, phase)
  return { chunks: chunks.length, items: planItems(chunks.map((chunk) => chunk.number)) }
}
