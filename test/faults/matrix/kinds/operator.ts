import { FAILURE_NAMES } from '../../../../functions/contract/failure-table.ts'
import { KIM } from '../../../support/operator-functions.ts'
import type { Fault, Trial } from '../fault.ts'

/* What an operator may do beside a run whose lock is gone, so that nothing but the fence keeps the two apart. */

const SHOWN = `select a.job_id as job from active_set a join distributor d on d.id = a.distributor_id
  where d.code = ? and a.settlement_month = ? and a.job_id is not null`

/** Takes the set that is shown from the readers; a refusal is an answer too, if it is one of the table. */
const withdraw = async ({ on, lab, slice, violations }: Trial): Promise<void> => {
  const [shown] = await on.rows<{ job: number }>(SHOWN, [slice.distributor, `${slice.month}-01`])
  if (shown === undefined) return
  try {
    await lab.operator.act({ action: 'withdraw', job: shown.job, ...KIM })
  } catch (error) {
    const { name, message } = error as Error
    if (!(FAILURE_NAMES as readonly string[]).includes(name))
      violations.push(`the operator was told ${name}: ${message}`)
  }
}

const withdrawn: Fault = {
  id: 'operator-withdraws',
  title: "Lambda stopped past the lock's TTL, the set that is shown withdrawn meanwhile, continued",
  beginnings: ['standby', 'in-place'],
  withdraws: true,
  suits: ({ inChunk, needs }) => !inChunk && needs !== 'failure',
  strike: async (trial, at) => {
    at.freeze()
    await trial.on.valkey.del(trial.on.lockKey(trial.slice))
  },
  beside: async (trial, at) => await withdraw(trial).finally(() => at.thaw()),
}

export const OPERATOR_FAULTS: readonly Fault[] = [withdrawn]
