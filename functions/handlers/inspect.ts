import { InspectInput } from '../contract/operations.ts'
import { inspect } from '../job/operator/inspect/inspect.ts'
import { task } from '../job/task.ts'

/**
 * Answers what the operators' command and console ask. It only reads: MySQL in read-only transactions, Valkey without
 * touching a lock's life. A second run answers with what is so by then.
 */
export const handler = task('Inspect', InspectInput, (input, context) => inspect(context, input, process.env))
