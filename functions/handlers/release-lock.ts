import { ReleaseLockInput } from '../contract/messages.ts'
import { task } from '../job/task.ts'
import { release } from '../store/lock/release.ts'

/**
 * Deletes the lock where it carries our token. `released` is false where there was nothing of ours to delete: a second
 * run, a lock that expired, or a run that never had one.
 */
export const handler = task('ReleaseLock', ReleaseLockInput, async ({ slice, lock }, run) => ({
  released: lock.held && (await release(await run.lock(), slice, lock.token)),
}))
