import { GetExecutionHistoryCommand } from '@aws-sdk/client-sfn'
import { sentenceOf } from '../../functions/contract/execution.ts'
import { messageOf } from '../../functions/contract/failures.ts'
import { counted } from '../../functions/contract/numbers.ts'
import { remedyOf, remedyText } from '../../functions/contract/remedies.ts'
import type { JobReport, SliceReport } from '../../functions/contract/reports.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import type { Clients } from './clients.ts'
import { calling } from './failures.ts'
import { HISTORY_EVENTS_SEEN } from './limits.ts'
import { OperationError } from './operation-error.ts'
import { openJobOf } from './plan.ts'
import type { Progress } from './progress.ts'
import { describeRun, type Run } from './runs.ts'
import { NO_SPEED, type Speeds } from './speed.ts'

/** A task inside a Map is shown as its Map: that is what the run is doing. */
const MAP_OF: Readonly<Record<string, string>> = { DeleteChunk: 'DeleteChunks', RegisterChunk: 'RegisterChunks' }

/** The state that was entered last. Null where the newest events are of lanes that retry and have entered none. */
const currentState = async ({ sfn }: Clients, executionArn: string): Promise<string | null> => {
  const { events = [] } = await calling('Step Functions', () =>
    sfn.send(
      new GetExecutionHistoryCommand({
        executionArn,
        reverseOrder: true,
        maxResults: HISTORY_EVENTS_SEEN,
        includeExecutionData: false,
      }),
    ),
  )
  const entered = events.find(({ stateEnteredEventDetails }) => stateEnteredEventDetails !== undefined)
  const name = entered?.stateEnteredEventDetails?.name
  return name === undefined ? null : (MAP_OF[name] ?? name)
}

/** An execution that ended without success, in words. */
const failureOf = (run: Run, slice: SliceName, report: SliceReport | null): Progress['failure'] => {
  if (run.status === 'RUNNING' || run.status === 'SUCCEEDED') return null
  const error = run.error ?? `Execution${run.status}`
  const cause = sentenceOf(run.cause) || `The execution ended as ${run.status} and gave no reason.`
  const remedy = remedyOf(error, slice, report !== null && openJobOf(report) !== null)
  return { error, cause, remedy: remedyText(remedy) }
}

type Output = {
  readonly job?: { readonly id?: number; readonly state?: string; readonly outcome?: string }
  readonly staged?: { readonly rows?: number }
  readonly release?: { readonly failure?: unknown }
  readonly publish?: { readonly failure?: unknown }
}

const rowsText = (rows: number | undefined): string => (rows === undefined ? '? rows' : counted(rows, 'row'))

/** What a success came to; what is left undone behind it is part of it. */
const resultOf = (run: Run, job: JobReport | null): string | null => {
  if (run.status !== 'SUCCEEDED') return null
  const output = JSON.parse(run.output ?? '{}') as Output
  const { id, state, outcome } = output.job ?? {}
  if (state !== 'REGISTERED') return `ended in ${state ?? 'an unknown state'}: look at job ${id ?? '?'}`
  if (outcome === 'already registered' && job === null)
    return `changed nothing: job ${id} had registered exactly this source before`
  const left = [
    output.release?.failure === undefined ? '' : 'the lock was not released and expires by itself',
    output.publish?.failure === undefined ? '' : 'its event is not published yet; the sweeper does it',
  ].filter((text) => text !== '')
  return [`registered ${rowsText(output.staged?.rows)} as job ${id}`, ...left].join('; ')
}

/**
 * One look at an execution: Step Functions says whether it runs and where it is, Inspect how far its job has come. If
 * only Inspect can't be asked, the look is made all the same and says so.
 *
 * @param before the look before, for what cannot be seen in this one
 * @throws OperationError NotFound, Unreachable (Step Functions)
 */
export const lookAt = async (
  clients: Clients,
  executionArn: string,
  speeds: Speeds,
  before?: Progress,
): Promise<Progress> => {
  const run = await describeRun(clients.sfn, executionArn)
  if (run === null) throw new OperationError('NotFound', `There is no execution ${executionArn}.`)
  if (run.input === null)
    throw new OperationError('NotFound', `The execution ${run.name} does not name a slice: ${sentenceOf(run.cause)}`)
  const slice: SliceName = { distributor: run.input.distributor, month: run.input.month }
  const isRunning = run.status === 'RUNNING'
  let trouble: string | null = null
  const [at, report] = await Promise.all([
    isRunning ? currentState(clients, executionArn) : null,
    clients.inspect({ question: 'slice', ...slice }).catch((error: unknown) => {
      trouble = messageOf(error)
      return null
    }),
  ])
  const seen = report?.jobs.find(({ execution }) => execution === executionArn) ?? null
  const job = report === null ? (before?.job ?? null) : seen
  return {
    ...slice,
    executionArn,
    status: run.status as Progress['status'],
    at: isRunning ? (at ?? before?.at ?? null) : null,
    job,
    lock: report === null ? (before?.lock ?? 'unreachable') : report.lock,
    ...(isRunning && report !== null ? speeds.of(executionArn, job) : NO_SPEED),
    failure: failureOf(run, slice, report),
    trouble,
    result: resultOf(run, job),
  }
}
