import { GetExecutionHistoryCommand } from '@aws-sdk/client-sfn'
import { sliceOptions } from '../../../functions/contract/remedies.ts'
import type { SliceReport } from '../../../functions/contract/reports.ts'
import type { Clients } from '../clients.ts'
import { calling } from '../failures.ts'
import type { Finding } from '../finding.ts'
import { OPENING_EVENTS_MAX } from '../limits.ts'
import type { Run } from '../runs.ts'

type Opened = { readonly id: number; readonly fence: number }

/** The job and fence that an execution was given by its last OpenJob among its first events; null before that. */
const openedBy = async ({ sfn }: Clients, { executionArn }: Run): Promise<Opened | null> => {
  const { events = [] } = await calling('Step Functions', () =>
    sfn.send(
      new GetExecutionHistoryCommand({ executionArn, maxResults: OPENING_EVENTS_MAX, includeExecutionData: true }),
    ),
  )
  const exits = events.filter(({ stateExitedEventDetails: exit }) => exit?.name === 'OpenJob')
  const output = exits.at(-1)?.stateExitedEventDetails?.output
  const { job } = JSON.parse(output ?? '{}') as { job?: Partial<Opened> | null }
  return job?.id === undefined || job.fence === undefined ? null : { id: job.id, fence: job.fence }
}

const findingOf = (run: Run, own: Opened, { jobs, ...slice }: SliceReport): Finding | null => {
  const { distributor, month } = slice
  const [newest] = jobs
  // A job that has come to its end keeps its fence, so a run that only has its lock to release is not meant.
  if (newest === undefined || newest.fence === own.fence) return null
  return {
    check: 'old-fence',
    severity: 'warning',
    what: `The execution ${run.name} runs with fence ${own.fence} of job ${own.id}, but ${distributor} ${month} is at fence ${newest.fence} (job ${newest.job}). MySQL refuses its writes, and it ends by itself at its next one.`,
    remedy: `sharelock stop ${sliceOptions({ distributor, month })} --execution ${run.name}`,
    slice: { distributor, month },
  }
}

/** Executions that run on although the slice's fence has left theirs behind. */
export const overtakenFindings = async (clients: Clients, runs: readonly Run[]): Promise<Finding[]> => {
  const found: Finding[] = []
  for (const run of runs) {
    if (run.input === null) continue
    const own = await openedBy(clients, run)
    if (own === null) continue
    const { distributor, month } = run.input
    const finding = findingOf(run, own, await clients.inspect({ question: 'slice', distributor, month }))
    if (finding !== null) found.push(finding)
  }
  return found
}
