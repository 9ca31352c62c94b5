import { TransitionInput } from '../contract/messages.ts'
import { task } from '../job/task.ts'
import { markDeleted } from '../job/transitions.ts'

/** DELETING -> DELETED where the slice is seen empty. A second run finds DELETED and answers the same. */
export const handler = task('MarkDeleted', TransitionInput, (input, context) => markDeleted(context, input))
