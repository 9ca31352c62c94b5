import { quoted } from '../../functions/contract/visible.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { OperationError } from './operation-error.ts'
import type { StartOptions, StartPlan } from './start-plan.ts'

/**
 * What has to be typed for this start: the plan's own confirmation, or for these options always. Behind another run it
 * replaces what that run will have registered, which no plan can show.
 */
export const confirmationOf = (plan: StartPlan, { supersede, force, wait }: StartOptions): string | null =>
  plan.confirmation ??
  (supersede === true || force === true || (wait === true && plan.behind.length > 0) ? sliceName(plan) : null)

/** @throws OperationError Unconfirmed */
export const requireConfirmation = (expected: string | null, typed: string | undefined): void => {
  if (expected === null || typed === expected) return
  const what = typed === undefined ? 'A confirmation is needed' : `The confirmation ${quoted(typed)} does not match`
  throw new OperationError('Unconfirmed', `${what}: type "${expected}", or give it as --confirm "${expected}".`)
}
