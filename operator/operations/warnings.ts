import { remedyOf, remedyText } from '../../functions/contract/remedies.ts'
import {
  type Neighbours,
  neighbourWarnings,
  unconfirmed,
  type Warning,
  warningNames,
} from '../../functions/contract/warnings.ts'
import { sliceName } from '../../functions/contract/words.ts'
import type { Clients } from './clients.ts'
import { OperationError } from './operation-error.ts'
import type { StartOptions, StartPlan, Validation } from './start-plan.ts'

const NO_NEIGHBOURS: Neighbours = { same: [], before: null, wasOpened: false }

/** The warnings of a plan, exactly as StageSource finds them. */
export const warningsOf = async (
  clients: Clients,
  { distributor, month }: Pick<StartPlan, 'distributor' | 'month'>,
  { summary, warnings }: Validation,
): Promise<Pick<StartPlan, 'warnings' | 'wereConfirmed'>> => {
  const neighbours =
    summary === null
      ? NO_NEIGHBOURS
      : await clients.inspect({ question: 'neighbours', distributor, month, digest: summary.digest })
  return {
    warnings: [...warnings, ...neighbourWarnings(summary?.rows ?? 0, neighbours)],
    wereConfirmed: neighbours.wasOpened,
  }
}

/** What a start of this plan still has to confirm. */
export const openWarnings = (plan: StartPlan, { accept = [], strict }: StartOptions): readonly Warning[] => {
  if (strict === true) return plan.warnings
  return plan.wereConfirmed ? [] : unconfirmed(plan.warnings, accept)
}

/** Refuses before anything is uploaded what StageSource would refuse. @throws OperationError Unconfirmed */
export const requireAccepted = (plan: StartPlan, options: StartOptions): void => {
  const open = openWarnings(plan, options)
  if (open.length === 0) return
  const names = warningNames(open)
  throw new OperationError(
    'Unconfirmed',
    options.strict === true
      ? `${sliceName(plan)}: the file has warnings, and this start takes none: ${names}. Nothing was started. ${remedyText(remedyOf('WarningsUnconfirmed', plan, false))}`
      : `${sliceName(plan)}: the file has warnings that were not confirmed: ${names}. Where it is right all the same, give --accept ${open.map(({ name }) => name).join(',')}. Nothing was started.`,
  )
}
