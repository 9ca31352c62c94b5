import { PlanMonthInput } from '../contract/month-messages.ts'
import { planMonth } from '../job/plan-month.ts'
import { task } from '../job/task.ts'

/**
 * Says which executions a month needs: the month of the scheduled time in Seoul, the active distributors, and whose file
 * is there. It changes nothing; a second run sees the same, or a file that came meanwhile.
 */
export const handler = task('PlanMonth', PlanMonthInput, (input, context) => planMonth(context, input))
