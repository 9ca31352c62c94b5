import { TASKS } from '../functions/contract/tasks.ts'

/** The rest of max_connections is for the settlement programs, for people, and for RDS itself. */
export const CONNECTIONS_SHARE_MAX = 0.7

/** The previous deployment's sandboxes keep their connections until they are reclaimed or wait_timeout ends them. */
const DEPLOYMENTS = 2

/** Sandboxes of one connecting task at most, for one job: its lanes where it is a Map's, else one. */
const LANED: readonly string[] = ['DeleteChunk', 'RegisterChunk']

/** Beside the jobs: PlanMonth, Sweep, the migrator, and one for killing a statement. */
const OTHERS = 4

/** Sandboxes of a task that are of use at once. */
export const sandboxesMax = (task: string, { lanes, jobsMax }: { lanes: number; jobsMax: number }): number =>
  jobsMax * (LANED.includes(task) ? lanes : 1)

/**
 * Connections that the functions may hold at once. A sandbox keeps its connection while it is frozen, so a job that
 * registers still counts the lanes that deleted, and every task it passed through.
 */
export const connectionBudget = (scale: { lanes: number; jobsMax: number }): number => {
  const connecting = Object.entries(TASKS).filter(([, { database }]) => database)
  const sandboxes = connecting.reduce((sum, [task]) => sum + sandboxesMax(task, scale), 0)
  return DEPLOYMENTS * (sandboxes + OTHERS)
}
