import { isLockProblem, messageOf } from '../../../contract/failures.ts'
import type { LockReport } from '../../../contract/reports.ts'
import type { Slice } from '../../../contract/words.ts'
import { hasToken } from '../../../store/job/predicates.ts'
import { tokenDigest } from '../../../store/lock/holder.ts'
import { inspectAll, type SeenLock } from '../../../store/lock/inspect.ts'
import type { TaskContext } from '../../task.ts'

type Named = Pick<Slice, 'distributor' | 'month'>

/** Locks as Valkey told them in the order of the slices that were asked for, or why it does not tell. */
export type SeenLocks =
  | { readonly problem: null; readonly locks: readonly (SeenLock | null)[] }
  | { readonly problem: string; readonly locks: null }

/** Asks Valkey; that it is out of reach, or refuses, is part of an answer, and no failure of it. */
export const seeLocks = async (context: TaskContext, slices: readonly Named[]): Promise<SeenLocks> => {
  try {
    return { problem: null, locks: await inspectAll(await context.lock(), slices) }
  } catch (error) {
    if (!isLockProblem(error)) throw error
    context.logger.warn('valkey does not tell who holds a lock', { error })
    return { problem: messageOf(error), locks: null }
  }
}

/** A lock as it is shown: the token's digest in place of the token. */
export const lockReport = (
  lock: SeenLock | null | undefined,
  jobs: readonly { readonly id: number; readonly lock_token: string | null }[],
): LockReport | null =>
  lock === null || lock === undefined
    ? null
    : {
        holder: lock.holder,
        tokenDigest: tokenDigest(lock.token),
        remainingMs: lock.remainingMs,
        job: jobs.find((job) => hasToken(job, lock.token))?.id ?? null,
      }
