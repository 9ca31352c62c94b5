import { OperateInput } from '../contract/operations.ts'
import { operate } from '../job/operator/operate/operate.ts'
import { task } from '../job/task.ts'

/**
 * Does what operators may do beside starting and ending executions, and writes who did it and why in the transaction of
 * the change itself.
 *
 * A second run of `stop` and `unlock` finds the job halted and changes it no more, of `withdraw` finds the set withdrawn, of `put-distributor` finds it there;
 * `record` writes its line again. So a line may be there twice where a reply was lost, and never not at all.
 */
export const handler = task('Operate', OperateInput, (input, context) => operate(context, input))
