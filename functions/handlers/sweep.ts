import { SweepInput } from '../contract/month-messages.ts'
import { sweep } from '../job/sweep.ts'
import { task } from '../job/task.ts'

/**
 * Halts open jobs with neither lock nor progress, publishes what is left in the outbox, and counts what is open.
 * Called every few minutes by a schedule; a second run finds nothing left to do.
 */
export const handler = task('Sweep', SweepInput, (input, context) => sweep(context, input))
