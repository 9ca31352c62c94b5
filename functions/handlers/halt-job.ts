import { HaltJobInput } from '../contract/messages.ts'
import { haltFromCatch, haltFromStatusEvent } from '../job/halt-job.ts'
import { task } from '../job/task.ts'

/**
 * Halts a job whose run failed: raises its fence, records why, then releases the run's lock. Called by the machine's
 * Catch, and by the status event of an execution that ended without one. A second run finds the fence raised, or the
 * job another run's, and changes nothing.
 */
export const handler = task('HaltJob', HaltJobInput, (input, context) =>
  'detail' in input ? haltFromStatusEvent(context, input) : haltFromCatch(context, input),
)
