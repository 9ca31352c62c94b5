import { z } from 'zod'
import { DistributorCode, Month, SeenHead } from './messages.ts'
import { PARTS_ENDING } from './parts.ts'

/* What travels through the dispatch machine, and what the sweeper is called with. */

/**
 * How the file of a month may end, so that the schedule finds it and takes nothing else for it (a backup, a note). What
 * it is, its bytes say.
 */
export const FILE_ENDINGS = ['csv', 'csv.gz', 'tsv', 'tsv.gz', 'txt', 'txt.gz', 'xlsx', 'zip', PARTS_ENDING] as const

/** The dispatch machine's request: the schedule's own time in UTC, or a month that an operator names. */
export const MonthRequest = z.union(
  [z.strictObject({ scheduledAt: z.iso.datetime({ offset: true }) }), z.strictObject({ month: Month })],
  { error: 'the request is {"scheduledAt": "2026-03-09T17:00:00Z"} or {"month": "2026-02"}' },
)
export const PlanMonthInput = z.strictObject({ request: MonthRequest, monthsBack: z.int().min(0).max(12) })
export type PlanMonthInput = z.infer<typeof PlanMonthInput>

/**
 * One execution to start: its file is `incoming/<distributor>/<month>.<ending>`, `run` ends its name (see
 * dispatched.ts), and `head` is what it expects.
 */
const MonthStart = z.strictObject({
  distributor: DistributorCode,
  ending: z.enum(FILE_ENDINGS),
  run: z.string(),
  head: SeenHead.nullable(),
})
/** The dispatch's own job of the very file that is there: REGISTERED, or running. */
const MonthAlready = z.strictObject({ distributor: DistributorCode, job: z.int() })
/**
 * Who is not started, and why: there is not one file (`missing`), somebody's job is not to be touched (`left`), or this very
 * delivery was refused for warnings that a person has to look at (`warned`).
 */
const MonthNotStarted = z.strictObject({ distributor: DistributorCode, reason: z.string() })
export const PlanMonthOutput = z.strictObject({
  month: Month,
  starts: z.array(MonthStart),
  already: z.array(MonthAlready),
  left: z.array(MonthNotStarted),
  leftCount: z.int(),
  warned: z.array(MonthNotStarted),
  warnedCount: z.int(),
  missing: z.array(MonthNotStarted),
  missingCount: z.int(),
})
export type PlanMonthOutput = z.infer<typeof PlanMonthOutput>

/**
 * `registeredByDay`: the day, in Seoul, by which the month that is due must be REGISTERED of every active distributor;
 * `monthsBack`: which month that is, as for PlanMonth.
 */
export const SweepInput = z.strictObject({
  registeredByDay: z.int().min(1).max(31),
  monthsBack: PlanMonthInput.shape.monthsBack,
})
export type SweepInput = z.infer<typeof SweepInput>
