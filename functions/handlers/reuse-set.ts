import { TransitionInput } from '../contract/messages.ts'
import { reuseSet } from '../job/reuse-set.ts'
import { task } from '../job/task.ts'

/**
 * DELETING -> REGISTERED where the slot holds the wanted set already, with the switch and the event in the same transaction;
 * else the job goes on to its delete plan. A second run finds what the first one did and answers the same.
 */
export const handler = task('ReuseSet', TransitionInput, (input, context) => reuseSet(context, input))
