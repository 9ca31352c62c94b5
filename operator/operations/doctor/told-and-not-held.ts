import { remedyOf } from '../../../functions/contract/remedies.ts'
import type { Deployment, JobReport } from '../../../functions/contract/reports.ts'
import { SLICE_JOBS_SHOWN } from '../../../functions/contract/support-limits.ts'
import type { SliceName } from '../../../functions/contract/words.ts'
import { sliceName } from '../../../functions/contract/words.ts'
import type { Clients } from '../clients.ts'
import type { Finding } from '../finding.ts'
import { SUCCEEDED_COMPARED_MAX } from '../limits.ts'
import { newestSucceeded, type Run } from '../runs.ts'

/** What an execution that succeeded says that it did. */
type Told = { readonly job: number; readonly fence: number; readonly outcome: string; readonly digest: string }

const toldBy = ({ output }: Run): Told | null => {
  const { job, staged } = JSON.parse(output ?? '{}') as {
    job?: { id?: number; fence?: number; outcome?: string }
    staged?: { digest?: string }
  }
  if (job?.id === undefined || job.fence === undefined || staged?.digest === undefined) return null
  return { job: job.id, fence: job.fence, outcome: job.outcome ?? '', digest: staged.digest }
}

/** What the database holds instead; null where it agrees, or does not show jobs that old. */
const heldInstead = (run: Run, told: Told, jobs: readonly JobReport[]): string | null => {
  const job = jobs.find((each) => each.job === told.job)
  if (job === undefined) {
    const isOlder = jobs.length === SLICE_JOBS_SHOWN && jobs.every((each) => each.job > told.job)
    return isOlder ? null : `the database has no job ${told.job} of it`
  }
  const { digest } = job.source
  if (digest !== told.digest) return `job ${job.job} is that of the staged source ${digest}, by ${job.execution}`
  if (job.state !== 'REGISTERED') return `job ${job.job} is in ${job.state} under fence ${job.fence}`
  // One that found its source registered already tells the job of another run, and changed nothing.
  if (told.outcome === 'already registered') return null
  if (job.execution !== run.executionArn) return `job ${job.job} was registered by ${job.execution}`
  return job.fence === told.fence ? null : `job ${job.job} carries fence ${job.fence}`
}

const findingOf = (run: Run, told: Told, slice: SliceName, instead: string): Finding => ({
  check: 'told-and-not-held',
  severity: 'error',
  what: `The execution ${run.name} ended as a success: job ${told.job} of ${sliceName(slice)} registered the staged source ${told.digest} under fence ${told.fence}. But ${instead}: the database went back to an earlier moment since. Find out which of the two sets is meant, and register it.`,
  // As where the rows are another program's.
  remedy: remedyOf('SliceMismatch', slice, true).command,
  slice,
})

/**
 * Compares what executions said with what the database holds: after a failover that lost commits, or a restore, a
 * success that was told may be gone, or its job's number be another run's. Of each slice the newest success counts: what
 * was registered after it is known to be meant.
 */
export const toldFindings = async (
  clients: Clients,
  deployment: Deployment,
  from: string,
  to: string,
): Promise<Finding[]> => {
  const runs = await newestSucceeded(clients.sfn, deployment.stateMachineArn, SUCCEEDED_COMPARED_MAX)
  const seen = new Set<string>()
  const found: Finding[] = []
  for (const run of runs) {
    const told = toldBy(run)
    if (told === null || run.input === null || run.input.month < from || run.input.month > to) continue
    const slice = { distributor: run.input.distributor, month: run.input.month }
    if (seen.has(sliceName(slice))) continue
    seen.add(sliceName(slice))
    const { jobs } = await clients.inspect({ question: 'slice', ...slice })
    const instead = heldInstead(run, told, jobs)
    if (instead !== null) found.push(findingOf(run, told, slice, instead))
  }
  return found
}
