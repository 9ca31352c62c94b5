import { OpenJobInput } from '../contract/messages.ts'
import { openJob } from '../job/open-job.ts'
import { task } from '../job/task.ts'
import { verifyLock } from '../job/verify-lock.ts'

/**
 * Opens the slice's job and so issues the fence under which everything after it writes.
 * A second run with the same token gets the same answer; a late one with an old head is Superseded.
 */
export const handler = task('OpenJob', OpenJobInput, async (input, context) => {
  await verifyLock(context, { slice: input.slice, lock: input.lock, onOutage: input.request.onOutage })
  return await openJob(context, input)
})
