import { TransitionInput } from '../contract/messages.ts'
import { task } from '../job/task.ts'
import { markRegistered } from '../job/transitions.ts'

/**
 * REGISTERING -> REGISTERED where the slice's rows and exact sum are the manifest's, with the event in the same
 * transaction. A second run finds REGISTERED and answers the same.
 */
export const handler = task('MarkRegistered', TransitionInput, (input, context) => markRegistered(context, input))
