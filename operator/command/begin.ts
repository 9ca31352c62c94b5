import { sliceName } from '../../functions/contract/words.ts'
import { confirmationOf } from '../operations/confirmation.ts'
import { OPERATION_ERRORS } from '../operations/operation-error.ts'
import type { Operations } from '../operations/operations.ts'
import type { Progress } from '../operations/progress.ts'
import type { Started, StartOptions, StartPlan } from '../operations/start-plan.ts'
import { openWarnings } from '../operations/warnings.ts'
import { accepted, agree, type CommandContext, confirm } from './command-context.ts'
import { follow } from './follow.ts'
import { planLines } from './plan-text.ts'

/** The options that start, undo and resume have in common. */
export type BeginOptions = {
  readonly wait?: boolean
  readonly why?: string
  readonly detach?: boolean
  readonly confirm?: string
  readonly yes?: boolean
}

/** What `--json` tells of a start: the plan where there was one, what was started or joined, and how it ended. */
type Document = { readonly plan: StartPlan | null; readonly started: Started | null; readonly end: Progress | null }

const startedLine = ({ execution, joined }: Started): string =>
  joined ? `Joined ${execution}, which runs already.` : `Started ${execution}.`

/** Says what was started, and follows it unless asked not to. @returns the exit code */
export const followStarted = async (
  context: CommandContext,
  operations: Operations,
  started: Started,
  plan: StartPlan | null,
  { detach }: BeginOptions,
): Promise<number> => {
  const { out } = context
  out.say(startedLine(started))
  const document: Document = { plan, started, end: null }
  if (detach === true) {
    out.document(document)
    return 0
  }
  const { code, end } = await follow(context, operations, started.executionArn)
  out.document({ ...document, end })
  return code
}

/** Shows a plan, asks for what has to be typed, begins and follows. @returns the exit code */
export const begin = async (
  context: CommandContext,
  operations: Operations,
  plan: StartPlan,
  options: BeginOptions & StartOptions,
): Promise<number> => {
  const { out } = context
  const nothing: Document = { plan, started: null, end: null }
  out.say(...planLines(out, plan))
  if (!plan.validation.accepted) {
    out.document({ error: 'Rejected', message: 'The file was refused; nothing was started.', ...nothing })
    return OPERATION_ERRORS.Rejected
  }
  if (plan.copyProblem !== null)
    out.say(`Its staged copy has a hole, which starting it closes without touching a row: ${plan.copyProblem}.`)
  else if (plan.joins === null && plan.alreadyRegistered && options.force !== true) {
    out.say(`${sliceName(plan)} holds exactly this source already; nothing was started (--force does it again).`)
    out.document(nothing)
    return 0
  }
  const asks = plan.joins === null && !willBeRefused(plan, options)
  const expected = confirmationOf(plan, options)
  const confirmation = asks ? await confirm(context, expected, options.confirm) : options.confirm
  const accept = asks ? await accepted(context, openWarnings(plan, options), options.accept ?? []) : options.accept
  const isRefused = openWarnings(plan, { ...options, accept }).length > 0
  // A copy is healed without touching a row.
  if (asks && expected === null && !isRefused && plan.copyProblem === null)
    await agree(context, sliceName(plan), options)
  const make = plan.isUndo ? operations.undo : operations.start
  return await followStarted(context, operations, await make(plan, { ...options, accept, confirmation }), plan, options)
}

/** Who will be refused anyway is told so, instead of being asked to type something first. */
const willBeRefused = ({ busyWith, blockedBy }: StartPlan, { wait, supersede }: StartOptions): boolean =>
  busyWith === null ? blockedBy !== null && supersede !== true : wait !== true
