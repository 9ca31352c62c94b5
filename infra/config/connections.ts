import { type SupportName, TASKS } from '../../functions/contract/tasks.ts'

/** The rest of max_connections is for the settlement programs, for people, and for RDS itself. */
export const CONNECTIONS_SHARE_MAX = 0.7

/** The previous deployment's sandboxes keep their connections until they are reclaimed or wait_timeout ends them. */
const DEPLOYMENTS = 2

/** Sandboxes of one connecting task at most, for one job: its lanes where it is a Map's, else one. */
const LANED: readonly string[] = ['DeleteChunk', 'RegisterChunk']

/**
 * Sandboxes of the functions beside the jobs. Several operators look at once, each every second or two, and an answer
 * takes a fraction of that; what they change, they change one after the other.
 */
export const SUPPORT_SANDBOXES = {
  PlanMonth: 1,
  Sweep: 1,
  Migrate: 1,
  Inspect: 4,
  Operate: 2,
} as const satisfies Record<SupportName, number>

/** Beside the jobs: those, and one for killing a statement. */
const OTHERS = Object.values(SUPPORT_SANDBOXES).reduce<number>((sum, each) => sum + each, 1)

/** Sandboxes of a task that are of use at once. */
export const sandboxesMax = (task: string, { lanes, jobsMax }: { lanes: number; jobsMax: number }): number =>
  jobsMax * (LANED.includes(task) ? lanes : 1)

/** Of the jobs that may run at once, one in four at least is kept for what operators start while a month goes on. */
const OPERATORS_SHARE = 4

/** Jobs of a month that the dispatch runs at once; the others queue. */
export const dispatchLanes = ({ jobsMax }: { jobsMax: number }): number =>
  jobsMax - Math.ceil(jobsMax / OPERATORS_SHARE)

/**
 * Connections that the functions may hold at once. A sandbox keeps its connection while it is frozen, so a job that
 * registers still counts the lanes that deleted, and every task it passed through.
 */
export const connectionBudget = (scale: { lanes: number; jobsMax: number }): number => {
  const connecting = Object.entries(TASKS).filter(([, { database }]) => database)
  const sandboxes = connecting.reduce((sum, [task]) => sum + sandboxesMax(task, scale), 0)
  return DEPLOYMENTS * (sandboxes + OTHERS)
}

/** Lambda never lets the last 100 of an account be reserved. */
const UNRESERVED_MIN = 100

/** The concurrent executions that the account must have for this stage. */
export const concurrencyNeeded = (scale: { lanes: number; jobsMax: number; reservedConcurrency: boolean }): number => {
  const tasks = Object.keys(TASKS).reduce((sum, task) => sum + sandboxesMax(task, scale), 0)
  const reserved = tasks + Object.values(SUPPORT_SANDBOXES).reduce<number>((sum, each) => sum + each, 0)
  // Without reservations, what runs at once: the lanes of all jobs, and the functions beside them.
  return scale.reservedConcurrency ? reserved + UNRESERVED_MIN : scale.jobsMax * scale.lanes + OTHERS
}
