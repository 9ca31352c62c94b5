import { TransitionInput } from '../contract/messages.ts'
import { requireSource } from '../job/require-source.ts'
import { task } from '../job/task.ts'
import { planDelete } from '../job/transitions.ts'

/**
 * The last task before rows are deleted. 1. Sees that every object of the staged source is there; where one is not, the
 * job halts with nothing deleted. 2. Writes the delete ranges into the ledger and groups them into Map items.
 *
 * A second run looks again and plans what is left.
 */
export const handler = task('PlanDelete', TransitionInput, async (input, context) => {
  await requireSource(context, input)
  return await planDelete(context, input)
})
