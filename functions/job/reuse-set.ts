import type { Guarded, JobMessage } from '../contract/messages.ts'
import { activeSet } from '../store/active-set.ts'
import { compareSet } from '../store/compare-set.ts'
import { acquisitionOf, guardExclusive, requireOurs } from '../store/job/guard.ts'
import { exclusively } from '../store/job/held.ts'
import { giveUpReuse } from '../store/job/mark-state.ts'
import { statement } from '../store/mysql/transaction.ts'
import { readManifest } from '../store/s3/staged.ts'
import { finishJob, mismatch, untilShown } from './show-set.ts'
import type { TaskContext } from './task.ts'
import { verifyLock } from './verify-lock.ts'

/**
 * DELETING -> REGISTERED without a row deleted or registered, where the job's slot holds the wanted set already: an undo is
 * then nothing but the switch. Where it does not, the job is told to delete and register like any other; unless readers see
 * that very slot, whose rows nobody may take from under them.
 * See decisions.md, "An undo is a switch where the set still lies in its slot".
 *
 * @throws Failure SliceMismatch, ReadersInTheWay
 */
export const reuseSet = async (context: TaskContext, input: Guarded): Promise<JobMessage> => {
  const { database, s3, env } = context
  await verifyLock(context, input)
  const by = acquisitionOf(input)
  // Not told to reuse any more: the machine would come back here for ever.
  const shown: JobMessage = { ...input.job, state: 'REGISTERED', reusesSet: false }
  const job = await statement(database, (reader) => requireOurs(reader, by, 'DELETING', 'REGISTERED'))
  const manifest = await readManifest(s3, env.BUCKET, job.source_digest)
  const comparison = await statement(database, (reader) => compareSet(reader, job, manifest))
  return await untilShown(context, input, 'DELETING', () =>
    exclusively(database, by.id, async (held) => {
      const guarded = await guardExclusive(held, by, 'DELETING', 'REGISTERED')
      if (guarded.state === 'REGISTERED') return shown
      // A first run of this task found the set damaged; its reply was lost, and rows may be gone since.
      if (guarded.job.reuses_set === 0) return { ...input.job, reusesSet: false }
      if (comparison.difference === null) {
        await finishJob(context, input, guarded, comparison)
        return shown
      }
      const active = await activeSet(guarded, guarded.slotKey)
      if (active?.slot === guarded.slotKey.slot) throw mismatch(input, 'DELETING', comparison, guarded.job)
      context.logger.warn('the slot does not hold the set any more', { difference: comparison.difference })
      await giveUpReuse(guarded)
      return { ...input.job, reusesSet: false }
    }),
  )
}
