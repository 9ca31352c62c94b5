import { sliceName } from '../../functions/contract/words.ts'
import { OperationError, type StartOptions, type StartPlan } from './operations.ts'

/** What has to be typed for this start: the plan's own confirmation, or for these options always. */
export const confirmationOf = (plan: StartPlan, { supersede, force }: StartOptions): string | null =>
  plan.confirmation ?? (supersede === true || force === true ? sliceName(plan) : null)

/** @throws OperationError Unconfirmed */
export const requireConfirmation = (expected: string | null, typed: string | undefined): void => {
  if (expected === null || typed === expected) return
  const what =
    typed === undefined ? 'A confirmation is needed' : `The confirmation ${JSON.stringify(typed)} does not match`
  throw new OperationError('Unconfirmed', `${what}: type "${expected}", or give it as --confirm "${expected}".`)
}
