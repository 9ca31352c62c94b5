import { StopExecutionCommand } from '@aws-sdk/client-sfn'
import { executionNameOf } from '../../functions/contract/execution.ts'
import type { Stopped } from '../../functions/contract/reports.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { sliceName } from '../../functions/contract/words.ts'
import type { Clients } from './clients.ts'
import { calling } from './failures.ts'
import { OperationError } from './operation-error.ts'
import { openJobOf } from './plan.ts'
import { describeRun, executionArnOf, runningOf } from './runs.ts'

const end = async ({ sfn, identity }: Clients, executionArn: string, why: string): Promise<void> => {
  const by = await identity()
  const cause = `Stopped by ${by}${why === '' ? '' : `: ${why}`}`
  await calling('Step Functions', () =>
    sfn.send(new StopExecutionCommand({ executionArn, error: 'Stopped', cause: cause.slice(0, 2_000) })),
  )
}

/**
 * Stops the work on a slice. Steps: raise the fence of its open job and halt it, which lets chunks in flight end and
 * shuts later ones out; then end the execution. A run that has opened no job yet has written nothing: it is only ended.
 */
export const stop = async (clients: Clients, slice: SliceName, why: string): Promise<Stopped | { ended: string }> => {
  const report = await clients.inspect({ question: 'slice', ...slice })
  const open = openJobOf(report)
  if (open !== null && open.halt === null) {
    const caller = await clients.identity()
    const stopped = await clients.operate({ action: 'stop', caller, why, job: open.job })
    const run = await describeRun(clients.sfn, stopped.execution)
    if (run?.status === 'RUNNING') await end(clients, run.executionArn, why)
    return stopped
  }
  const [run] = await runningOf(clients, slice, report.jobs)
  if (run === undefined) {
    const halted = open === null ? '' : ` Job ${open.job} is halted already.`
    throw new OperationError('NotFound', `Nothing runs on ${sliceName(slice)}, so there is nothing to stop.${halted}`)
  }
  await end(clients, run.executionArn, why)
  return { ended: run.name }
}

/**
 * Ends one execution of a slice and leaves its job to the run that has it: for a run that was overtaken and does not
 * end.
 */
export const endRun = async (
  clients: Clients,
  slice: SliceName,
  name: string,
  why: string,
): Promise<{ ended: string }> => {
  const { stateMachineArn } = await clients.deployment()
  const run = await describeRun(clients.sfn, executionArnOf(stateMachineArn, executionNameOf(name)))
  if (run?.status !== 'RUNNING') throw new OperationError('NotFound', `No execution ${name} runs.`)
  if (run.input?.distributor !== slice.distributor || run.input.month !== slice.month)
    throw new OperationError('Usage', `The execution ${name} is not one of ${sliceName(slice)}.`)
  await end(clients, run.executionArn, why)
  return { ended: run.name }
}
