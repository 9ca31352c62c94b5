import type { Recorded } from '../../../contract/reports.ts'
import { audited, writeAudit } from '../../../store/audit.ts'
import { findDistributor } from '../../../store/distributor.ts'
import type { TaskContext } from '../../task.ts'
import type { Input } from './input.ts'

/**
 * Writes who is about to start an execution, before it is started: a start without a line can't be, a line without a
 * start can, and names the execution that never was.
 *
 * @throws Failure UnknownDistributor
 */
export const record = async ({ database }: TaskContext, input: Input<'record'>): Promise<Recorded> =>
  await audited(database, async (tx) => {
    await findDistributor(tx, input.distributor)
    const { caller, why, what: action, distributor, month, execution, source, confirmed } = input
    const detail = { source, ...(confirmed && { confirmed: confirmed.join(', ') }) }
    const line = await writeAudit(tx, { caller, why, action, distributor, month, execution, detail })
    return { line, result: { id: line } }
  })
