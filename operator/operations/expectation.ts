import { executionNameOf } from '../../functions/contract/execution.ts'
import type { Expectation, SeenHead } from '../../functions/contract/messages.ts'
import type { JobReport, SliceReport } from '../../functions/contract/reports.ts'
import { AFTER_MAX } from '../../functions/contract/support-limits.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { OperationError } from './operation-error.ts'
import type { Run } from './runs.ts'
import type { ResumeOptions, StartPlan } from './start-plan.ts'

/** The head of a slice as a plan carries it: its newest job, or null where it never had one. */
export const headOf = ({ jobs: [newest] }: Pick<SliceReport, 'jobs'>): SeenHead | null =>
  newest === undefined ? null : { job: newest.job, fence: newest.fence, state: newest.state }

/** What the execution is told to compare: exactly what was shown, and the runs that it waits behind. */
export const expectationOf = (
  { head, behind }: Pick<StartPlan, 'head' | 'behind'>,
  digest: string,
  wait: boolean,
): Expectation => ({ digest, head, ...(wait && behind.length > 0 ? { after: behind.slice(0, AFTER_MAX) } : {}) })

const planMoved = (slice: SliceName, moved: string): OperationError =>
  new OperationError(
    'PlanMoved',
    `${sliceName(slice)} is not as it was shown: ${moved}. Nothing was started; look at the new plan and start again.`,
  )

const moveOf = (newest: JobReport | undefined, head: SeenHead | null): string => {
  if (newest === undefined) return `job ${head?.job} is gone`
  const who = `of ${newest.requestedBy}, in the run ${executionNameOf(newest.execution)}`
  if (newest.job !== head?.job) return `job ${newest.job} (${newest.state}, ${who}) came since`
  return `job ${newest.job} was ${head.state} under fence ${head.fence} and is ${newest.state} under fence ${newest.fence} (${who})`
}

/**
 * Refuses early, and before a file is uploaded, what OpenJob would refuse: it compares the same head again, in its own
 * transaction.
 *
 * @param waits true where the start waits behind the runs that were shown
 * @throws OperationError PlanMoved
 */
export const requireSeen = (plan: StartPlan, report: SliceReport, runs: readonly Run[], waits: boolean): void => {
  const unseen = runs.find(({ executionArn }) => !plan.behind.includes(executionArn))
  if (waits && unseen !== undefined) throw planMoved(plan, `the run ${unseen.name} began since`)
  const [newest] = report.jobs
  const now = headOf(report)
  const isSeen = now?.job === plan.head?.job && now?.fence === plan.head?.fence && now?.state === plan.head?.state
  if (isSeen || (waits && newest !== undefined && plan.behind.includes(newest.execution))) return
  throw planMoved(plan, moveOf(newest, plan.head))
}

type SeenJob = NonNullable<ResumeOptions['seen']>

/** The job that the operator saw and said to resume. @throws OperationError PlanMoved */
export const requireSeenJob = (slice: SliceName, open: JobReport, seen: SeenJob | undefined): void => {
  if (seen !== undefined && open.job !== seen.job)
    throw planMoved(slice, `its open job is ${open.job} and not ${seen.job}`)
}

/** Nobody has resumed or stopped it since. @throws OperationError PlanMoved */
export const requireSeenFence = (slice: SliceName, open: JobReport, seen: SeenJob | undefined): void => {
  if (seen?.fence !== undefined && open.fence !== seen.fence)
    throw planMoved(slice, `job ${open.job} was under fence ${seen.fence} and is under fence ${open.fence}`)
}
