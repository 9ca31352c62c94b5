import { TransitionInput } from '../contract/messages.ts'
import { task } from '../job/task.ts'
import { planDelete } from '../job/transitions.ts'

/** Writes the delete ranges into the ledger and groups them into Map items. A second run plans what is left. */
export const handler = task('PlanDelete', TransitionInput, (input, run) => planDelete(run, input))
