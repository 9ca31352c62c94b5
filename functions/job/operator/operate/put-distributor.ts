import { Failure } from '../../../contract/failures.ts'
import type { DistributorFields } from '../../../contract/operations.ts'
import type { DistributorLine } from '../../../contract/reports.ts'
import { audited, writeAudit } from '../../../store/audit.ts'
import { addDistributor, findDistributor, setDistributor } from '../../../store/distributor.ts'
import { isDuplicateKey } from '../../../store/mysql/transaction.ts'
import type { TaskContext } from '../../task.ts'
import type { Input } from './input.ts'

/**
 * Adds a distributor that must not exist, or changes one that must: a typo in a code then does neither. Rules hold from
 * the next file on; what is staged was judged under those before.
 *
 * @throws Failure DistributorExists, UnknownDistributor
 */
export const putDistributor = async (
  { database }: TaskContext,
  input: Input<'put-distributor'>,
): Promise<DistributorLine> => {
  const { caller, why, mode, distributor: fields } = input
  const { code: distributor, overClaim, replaceMode, ...others } = fields
  const values = { ...others, ...(overClaim && { overClaim }), ...(replaceMode && { replaceMode }) }
  return await audited(database, async (tx) => {
    const before = mode === 'set' ? await setDistributor(tx, fields) : undefined
    if (mode === 'add') await addDistributor(tx, fields).catch(refused(distributor))
    const detail = { ...values, ...changesFrom(before, values) }
    const line = await writeAudit(tx, { caller, why, action: `${mode}-distributor`, distributor, detail })
    const { id, ...written } = await findDistributor(tx, distributor)
    return { line, result: { id, ...fields, overClaim: written.overClaim, replaceMode: written.replaceMode } }
  })
}

type Values = Omit<DistributorFields, 'code'>

/** `activeBefore` and so on, of what is another value now. */
const changesFrom = (before: Values | undefined, values: Values): Record<string, string | boolean | null> => {
  if (before === undefined) return {}
  const changed = (Object.keys(values) as (keyof Values)[]).filter((field) => before[field] !== values[field])
  return Object.fromEntries(changed.map((field) => [`${field}Before`, before[field] ?? null]))
}

const refused = (code: string) => (error: unknown) => {
  if (!isDuplicateKey(error)) throw error
  throw new Failure('DistributorExists', `There is a distributor ${code} already.`)
}
