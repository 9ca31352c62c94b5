import type { Stopped } from '../../contract/operations.ts'
import { sliceName } from '../../contract/words.ts'
import { writeAudit } from '../../store/audit.ts'
import { isOpen, type JobRow } from '../../store/job.ts'
import { raise, releaseOrLog } from '../halt-job.ts'
import { knownSliceOf } from '../inspect/slice.ts'
import type { Run } from '../task.ts'
import type { Input } from './operate.ts'

/**
 * Halts an open job between two chunks: the raise waits for those in flight and shuts out every later one, so nothing is
 * written any more whatever becomes of the execution. Then releases its lock by the row's own token. Whoever asked ends
 * the execution afterwards; its status event finds the job halted.
 *
 * @throws Failure UnknownJob
 */
export const stop = async (run: Run, { caller, why, job: id }: Input<'stop'>): Promise<Stopped> => {
  const slice = await knownSliceOf(run, id)
  let seen: JobRow | undefined
  const halted = await raise(
    run,
    id,
    (row) => {
      seen = row
      return isOpen(row) && row.halted_at === null
    },
    { ...slice, error: 'Stopped', cause: `${sliceName(slice)} was stopped by ${because(caller, why)}` },
    async ({ state, execution, fence }) => {
      const { distributor, month } = slice
      await writeAudit(run.database, {
        ...{ caller, why, action: 'stop', distributor, month, job: id, execution },
        detail: { state, fence },
      })
    },
  )
  const { state, execution, lock_token: token } = seen as unknown as JobRow
  const released = halted && token !== null && (await releaseOrLog(run, slice, token))
  return { halted, job: id, state, execution, released }
}

/** `kim: wrong file. Start again ...`: who and why, and the way on, for the halt's cause. */
export const because = (caller: string, why: string): string =>
  `${caller}${why === '' ? '' : `: ${why}`}. Start again with the same file to resume.`
