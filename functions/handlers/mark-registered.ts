import { TransitionInput } from '../contract/messages.ts'
import { markRegistered } from '../job/mark-registered.ts'
import { task } from '../job/task.ts'

/**
 * REGISTERING -> REGISTERED where the slot's rows are the manifest's in every column, with the readers' switch and the event in
 * the same transaction. A second run finds REGISTERED and answers the same.
 */
export const handler = task('MarkRegistered', TransitionInput, (input, context) => markRegistered(context, input))
