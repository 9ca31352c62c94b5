import {
  DescribeExecutionCommand,
  type DescribeExecutionOutput,
  ListExecutionsCommand,
  type SFNClient,
} from '@aws-sdk/client-sfn'
import pMap from 'p-map'
import { executionNameOf } from '../../functions/contract/execution.ts'
import { ExecutionInput } from '../../functions/contract/messages.ts'
import type { SliceReport } from '../../functions/contract/reports.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import type { Clients } from './clients.ts'
import { calling } from './failures.ts'
import { CALLS_AT_ONCE, RUNNING_DESCRIBED_MAX, RUNNING_LISTED_MAX } from './limits.ts'

/** An execution of the job's machine, with the input that says whose slice it replaces. */
export type Run = {
  readonly executionArn: string
  readonly name: string
  readonly status: NonNullable<DescribeExecutionOutput['status']>
  readonly startedAt: Date | undefined
  readonly error: string | undefined
  readonly cause: string | undefined
  readonly output: string | undefined
  /** Null where StageSource will refuse it. */
  readonly input: ExecutionInput | null
}

/** `arn:...:stateMachine:NAME` and an execution's name -> the execution's ARN. */
export const executionArnOf = (stateMachineArn: string, name: string): string =>
  `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`

/** @returns null where there is no such execution, or none any more: AWS forgets them after 90 days */
export const describeRun = async (sfn: SFNClient, executionArn: string): Promise<Run | null> => {
  const found = await calling('Step Functions', async () => {
    try {
      return await sfn.send(new DescribeExecutionCommand({ executionArn }))
    } catch (error) {
      if (['ExecutionDoesNotExist', 'InvalidArn'].includes((error as Error).name)) return null
      throw error
    }
  })
  if (found === null) return null
  const { name = '', status = 'RUNNING', startDate, error, cause, output } = found
  return { executionArn, name, status, startedAt: startDate, error, cause, output, input: inputOf(found.input) }
}

const inputOf = (text: string | undefined): ExecutionInput | null => {
  try {
    const { data } = ExecutionInput.safeParse(JSON.parse(text ?? ''))
    return data ?? null
  } catch {
    return null
  }
}

/** ARNs of what runs, or of what succeeded, newest first. AWS lists with a short delay. */
const listed = async (
  sfn: SFNClient,
  stateMachineArn: string,
  statusFilter: 'RUNNING' | 'SUCCEEDED',
  most: number,
): Promise<string[]> => {
  const arns: string[] = []
  let nextToken: string | undefined
  do {
    const page = await calling('Step Functions', () =>
      sfn.send(new ListExecutionsCommand({ stateMachineArn, statusFilter, maxResults: 100, nextToken })),
    )
    for (const { executionArn } of page.executions ?? []) if (executionArn !== undefined) arns.push(executionArn)
    nextToken = page.nextToken
  } while (nextToken !== undefined && arns.length < most)
  return arns.slice(0, most)
}

const listRunning = (sfn: SFNClient, stateMachineArn: string): Promise<string[]> =>
  listed(sfn, stateMachineArn, 'RUNNING', RUNNING_LISTED_MAX)

/** What runs now, of any slice. */
export const allRunning = async (sfn: SFNClient, stateMachineArn: string): Promise<Run[]> =>
  await describeRunning(sfn, await listRunning(sfn, stateMachineArn))

/** What succeeded last, of any slice, newest first. */
export const newestSucceeded = async (sfn: SFNClient, stateMachineArn: string, most: number): Promise<Run[]> =>
  await describeAll(sfn, await listed(sfn, stateMachineArn, 'SUCCEEDED', most))

const describeAll = async (sfn: SFNClient, arns: readonly string[]): Promise<Run[]> => {
  const runs = await pMap(arns, (arn) => describeRun(sfn, arn), { concurrency: CALLS_AT_ONCE })
  return runs.filter((run) => run !== null)
}

const describeRunning = async (sfn: SFNClient, arns: readonly string[]): Promise<Run[]> =>
  (await describeAll(sfn, arns)).filter(({ status }) => status === 'RUNNING')

/**
 * What runs now on one slice, no matter who started it. The newest job's execution is asked for by its own name, since
 * a list may be late; executions whose name begins as this command's and the schedule's do are looked at before all
 * others.
 */
export const runningOf = async (
  { sfn, deployment }: Clients,
  slice: SliceName,
  jobs: SliceReport['jobs'],
): Promise<Run[]> => {
  const running = await listRunning(sfn, (await deployment()).stateMachineArn)
  const ours = `${slice.distributor}-${slice.month}-`
  const [known, foreign] = [true, false].map((known) =>
    running.filter((arn) => executionNameOf(arn).startsWith(ours) === known),
  )
  const opener = jobs[0]?.execution
  const arns = new Set([...(opener === undefined ? [] : [opener]), ...(known ?? [])])
  for (const arn of (foreign ?? []).slice(0, RUNNING_DESCRIBED_MAX)) arns.add(arn)
  const runs = await describeRunning(sfn, [...arns])
  return runs.filter(
    ({ input, executionArn }) =>
      (input?.distributor === slice.distributor && input.month === slice.month) || executionArn === opener,
  )
}
