import { confirmationOf } from '../operations/confirmation.ts'
import type { Operations, Progress, Started, StartOptions, StartPlan } from '../operations/operations.ts'
import { follow } from './follow.ts'
import { planLines } from './plan-text.ts'
import { confirm, type Session } from './session.ts'

/** The options that start, undo and resume have in common. */
export type BeginOptions = {
  readonly wait?: boolean
  readonly why?: string
  readonly detach?: boolean
  readonly confirm?: string
}

/** What `--json` tells of a start: the plan where there was one, what was started or joined, and how it ended. */
type Document = { readonly plan: StartPlan | null; readonly started: Started | null; readonly end: Progress | null }

const startedLine = ({ execution, joined }: Started): string =>
  joined ? `Joined ${execution}, which runs already.` : `Started ${execution}.`

/** Says what was started, and follows it unless asked not to. @returns the exit code */
export const followStarted = async (
  session: Session,
  operations: Operations,
  started: Started,
  plan: StartPlan | null,
  { detach }: BeginOptions,
): Promise<number> => {
  const { out } = session
  out.say(startedLine(started))
  const document: Document = { plan, started, end: null }
  if (detach === true) {
    out.document(document)
    return 0
  }
  const { code, end } = await follow(session, operations, started.executionArn)
  out.document({ ...document, end })
  return code
}

/** Shows a plan, asks for what has to be typed, begins and follows. @returns the exit code */
export const begin = async (
  session: Session,
  operations: Operations,
  plan: StartPlan,
  options: BeginOptions & StartOptions,
): Promise<number> => {
  const { out } = session
  out.say(...planLines(out, plan))
  if (plan.validation.accepted && plan.joins === null) {
    if (plan.alreadyRegistered && options.force !== true) {
      out.say(
        `${plan.distributor} ${plan.month} holds exactly this source already; nothing was started (--force does it again).`,
      )
      out.document({ plan, started: null, end: null } satisfies Document)
      return 0
    }
    // Who would be refused anyway is told so, instead of asked to type something first.
    const isRefused =
      (plan.busyWith !== null && options.wait !== true) || (plan.blockedBy !== null && options.supersede !== true)
    if (!isRefused) {
      const confirmation = await confirm(session, confirmationOf(plan, options), options.confirm)
      return await followStarted(
        session,
        operations,
        await make(operations, plan, { ...options, confirmation }),
        plan,
        options,
      )
    }
  }
  return await followStarted(session, operations, await make(operations, plan, options), plan, options)
}

const make = (operations: Operations, plan: StartPlan, options: StartOptions): Promise<Started> =>
  plan.isUndo ? operations.undo(plan, options) : operations.start(plan, options)
