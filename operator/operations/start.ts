import { StartExecutionCommand } from '@aws-sdk/client-sfn'
import { executionNameOf } from '../../functions/contract/execution.ts'
import type { ExecutionRequest, Source } from '../../functions/contract/messages.ts'
import type { JobReport } from '../../functions/contract/reports.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { sliceName } from '../../functions/contract/words.ts'
import type { Clients } from './clients.ts'
import { confirmationOf, requireConfirmation } from './confirmation.ts'
import { expectationOf, headOf, requireSeen, requireSeenFence, requireSeenJob } from './expectation.ts'
import { calling, refusal } from './failures.ts'
import { RUN_NUMBERS_MAX } from './limits.ts'
import { OperationError } from './operation-error.ts'
import { isSameSource, openJobOf } from './plan.ts'
import { describeRun, executionArnOf, runningOf } from './runs.ts'
import type { ResumeOptions, Started, StartOptions, StartPlan } from './start-plan.ts'
import { upload } from './upload.ts'
import { requireAccepted } from './warnings.ts'

/** What an execution is started for, as the audit trail calls it. */
type What = 'start' | 'resume' | 'undo'

/**
 * `<distributor>-<month>-<first 16 digits of the source's digest>-<run number>`: everybody who starts the same thing at
 * the same time means the same name, and Step Functions lets only one have it. At most 32 + 7 + 16 + 3 and hyphens,
 * below its 80.
 */
export const executionName = ({ distributor, month }: SliceName, digest: string, number: number): string =>
  `${distributor}-${month}-${digest.slice(0, 16)}-${number}`

const joined = (executionArn: string): Started => ({
  executionArn,
  execution: executionNameOf(executionArn),
  joined: true,
})

const busy = (slice: SliceName, executionArn: string): OperationError =>
  refusal(
    'LockHeld',
    `${sliceName(slice)} is being worked on by ${executionNameOf(executionArn)}, with another source, or one that it has not read yet.`,
    slice,
  )

const blocked = (slice: SliceName, job: number): OperationError =>
  refusal('JobOpenError', `${sliceName(slice)} has an open job of another file, job ${job}.`, slice, true)

/**
 * Starts an execution under the next free name, or joins the one that has it. Steps: look for a run of the same source,
 * find the name, write the audit line, start. A lost reply that the SDK repeats meets its own name and input, which
 * Step Functions answers with the execution that it has started.
 */
const startOrJoin = async (
  clients: Clients,
  slice: SliceName,
  digest: string,
  request: Omit<ExecutionRequest, 'distributor' | 'month' | 'requestedBy'>,
  what: What,
  why: string,
): Promise<Started> => {
  const [{ stateMachineArn }, caller] = await Promise.all([clients.deployment(), clients.identity()])
  const input = JSON.stringify({ ...slice, ...request, requestedBy: caller } satisfies ExecutionRequest)
  for (let number = 1; number <= RUN_NUMBERS_MAX; number++) {
    const name = executionName(slice, digest, number)
    const executionArn = executionArnOf(stateMachineArn, name)
    const run = await describeRun(clients.sfn, executionArn)
    if (run?.status === 'RUNNING') return joined(executionArn)
    if (run !== null) continue
    const line = {
      ...{ caller, why, what, ...slice, execution: executionArn, source: sourceText(request.source) },
      ...(request.confirmed && { confirmed: [...request.confirmed] }),
    }
    const { id } = await clients.operate({ action: 'record', ...line })
    return (await begin(clients, stateMachineArn, name, input)) && (await wasFirst(clients, slice, name, id))
      ? { executionArn, execution: name, joined: false }
      : joined(executionArn)
  }
  throw new OperationError('Failed', `${sliceName(slice)} had ${RUN_NUMBERS_MAX} runs of this source; no name is left.`)
}

const sourceText = (source: Source): string =>
  'key' in source ? source.key : 'parts' in source ? source.parts : 'staged' in source ? source.staged : 'undo'

/** @returns false where somebody else took the name since it was found free: then theirs is the run to join */
const begin = async ({ sfn }: Clients, stateMachineArn: string, name: string, input: string): Promise<boolean> =>
  await calling('Step Functions', async () => {
    try {
      await sfn.send(new StartExecutionCommand({ stateMachineArn, name, input }))
      return true
    } catch (error) {
      if ((error as Error).name !== 'ExecutionAlreadyExists') throw error
      return false
    }
  })

/**
 * The same name with the same input is no error: the same person in two terminals is answered alike. Whose audit line
 * comes first has started it; the others joined.
 */
const wasFirst = async (clients: Clients, slice: SliceName, execution: string, id: number): Promise<boolean> => {
  const lines = await clients.inspect({ question: 'audit', ...slice }).catch(() => [])
  return !lines.some((line) => line.execution === execution && line.id < id)
}

/** Makes a planned start. The plan was true when it was made, so what it rests on is looked at again. */
export const start = async (clients: Clients, plan: StartPlan, options: StartOptions): Promise<Started> => {
  const { distributor, month, source, validation, uploadKey } = plan
  const slice = { distributor, month }
  const { summary } = validation
  if (summary === null)
    throw new OperationError(
      'Rejected',
      `The file breaks ${validation.rejection?.total ?? 0} rules; nothing was started.`,
    )
  const report = await clients.inspect({ question: 'slice', ...slice })
  const runs = await runningOf(clients, slice, report.jobs)
  const same = runs.find((run) => isSameSource(run, plan, summary.digest, report))
  if (same !== undefined) return joined(same.executionArn)
  const waits = options.wait === true
  const [other] = runs
  if (other !== undefined && !waits) throw busy(slice, other.executionArn)
  requireSeen(plan, report, runs, waits)
  const supersede = options.supersede === true || plan.isUndo
  // A run that waits meets what the other run leaves behind, and is told then.
  if (other === undefined && !supersede) requireNoOther(slice, openJobOf(report), summary.digest)
  requireConfirmation(confirmationOf(plan, options), options.confirmation)
  requireAccepted(plan, options)

  if ('path' in source && uploadKey !== null) await upload(clients, source.path, uploadKey)
  const policy = {
    onHeld: waits ? 'wait' : 'fail',
    supersede,
    force: options.force === true,
    ...answersTo(plan, options),
  } as const
  const expect = expectationOf(plan, summary.digest, waits)
  const what = plan.isUndo ? 'undo' : 'start'
  return await startOrJoin(
    clients,
    slice,
    summary.digest,
    { source: sourceOf(plan), ...policy, expect },
    what,
    options.why ?? '',
  )
}

/** What the run is told of warnings: those that were shown and confirmed, and no others. */
const answersTo = (plan: StartPlan, { accept = [], strict }: StartOptions) => {
  const confirmed = plan.warnings.map(({ name }) => name).filter((name) => accept.includes(name))
  return { ...(confirmed.length > 0 && { confirmed }), ...(strict === true && { strict }) }
}

/** What the run is to read: an uploaded file by its key. */
const sourceOf = ({ source, isUndo, uploadKey }: StartPlan): Source => {
  if (isUndo) return { undo: true }
  return 'path' in source ? { key: uploadKey ?? '' } : source
}

const requireNoOther = (slice: SliceName, open: JobReport | null, digest: string): void => {
  if (open !== null && open.source.digest !== digest) throw blocked(slice, open.job)
}

/** Goes on with the open job of a slice, with its own staged source, from the state it has come to. */
export const resume = async (clients: Clients, slice: SliceName, options: ResumeOptions): Promise<Started> => {
  const report = await clients.inspect({ question: 'slice', ...slice })
  const open = openJobOf(report)
  if (open === null) throw refusal('NotOpen', `${sliceName(slice)} has no open job to resume.`, slice)
  requireSeenJob(slice, open, options.seen)
  const staged = open.source.digest
  const plan = { uploadKey: null, isUndo: open.isUndo }
  const runs = await runningOf(clients, slice, report.jobs)
  const same = runs.find((run) => isSameSource(run, plan, staged, report))
  if (same !== undefined) return joined(same.executionArn)
  requireSeenFence(slice, open, options.seen)
  const [other] = runs
  if (other !== undefined && options.wait !== true) throw busy(slice, other.executionArn)
  const onHeld = options.wait === true ? 'wait' : 'fail'
  const expect = { digest: staged, head: headOf(report) }
  return await startOrJoin(clients, slice, staged, { source: { staged }, onHeld, expect }, 'resume', options.why ?? '')
}
