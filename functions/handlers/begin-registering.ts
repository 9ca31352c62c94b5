import { TransitionInput } from '../contract/messages.ts'
import { task } from '../job/task.ts'
import { beginRegistering } from '../job/transitions.ts'

/** DELETED -> REGISTERING with the manifest in the ledger. A second run, or a resume, answers with what is left. */
export const handler = task('BeginRegistering', TransitionInput, (input, context) => beginRegistering(context, input))
