import type { EndName } from '../../../contract/failure-table.ts'
import type { Stopped } from '../../../contract/reports.ts'
import { sliceName } from '../../../contract/words.ts'
import { writeAudit } from '../../../store/audit.ts'
import { isRunning } from '../../../store/job/predicates.ts'
import type { JobRow } from '../../../store/job/row.ts'
import { haltJob, releaseOrLog } from '../../halt-job.ts'
import type { TaskContext } from '../../task.ts'
import { knownSliceOf, unknownJob } from '../inspect/slice.ts'
import type { Input } from './input.ts'

/**
 * Halts an open job between two chunks: the raise waits for those in flight and shuts out every later one, so nothing
 * is written any more even if the execution goes on. Then releases its lock by the row's own token. The caller ends
 * the execution afterwards; its status event finds the job halted.
 * See decisions.md, "A stop halts first and ends the execution second".
 *
 * @throws Failure UnknownJob
 */
export const stop = async (context: TaskContext, { caller, why, job: id }: Input<'stop'>): Promise<Stopped> => {
  const slice = await knownSliceOf(context, id)
  const { distributor, month } = slice
  const seen: { job?: JobRow } = {}
  const isOwn = (job: JobRow): boolean => {
    seen.job = job
    return isRunning(job)
  }
  const cause = `${sliceName(slice)} was stopped by ${because(caller, why)}`
  const reason = { distributor, month, error: 'Stopped' satisfies EndName, cause }
  const halted = await haltJob(context, id, isOwn, reason, async (tx, job) => {
    await writeAudit(tx, {
      ...{ caller, why, action: 'stop', distributor, month, job: id, execution: job.execution },
      detail: { state: job.state, fence: job.fence },
    })
  })
  if (seen.job === undefined) throw unknownJob(id)
  const { state, execution, lock_token: token } = seen.job
  return {
    halted,
    job: id,
    state,
    execution,
    released: halted && token !== null && (await releaseOrLog(context, slice, { token, held: true })),
  }
}

/** `kim: wrong file.`: who and why, for the halt's cause. */
export const because = (caller: string, why: string): string => `${caller}${why === '' ? '' : `: ${why}`}.`
