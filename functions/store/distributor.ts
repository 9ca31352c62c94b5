import { Failure } from '../contract/failures.ts'
import type { DistributorFields } from '../contract/operations.ts'
import type { DistributorLine } from '../contract/reports.ts'
import type { OverClaim, PartyScheme, ReplaceMode, SumRule } from '../contract/words.ts'
import type { Changer, Reader, Tx } from './mysql/tx.ts'

export type Distributor = {
  readonly id: number
  readonly code: string
  readonly name: string
  readonly active: boolean
  readonly sumRule: SumRule
  readonly partyScheme: PartyScheme
  readonly overClaim: OverClaim
  readonly replaceMode: ReplaceMode
}

const COLUMNS =
  'id, code, name, active = 1 as active, sum_rule as sumRule, party_scheme as partyScheme, over_claim as overClaim, replace_mode as replaceMode'

/** @throws Failure UnknownDistributor: a code is never created on the fly, a typo must not open a new slice */
export const findDistributor = async (reader: Reader, code: string): Promise<Distributor> => {
  const [found] = await reader.rows<Distributor>(`select ${COLUMNS} from distributor where code = ?`, [code])
  if (found !== undefined) return found
  throw new Failure('UnknownDistributor', `No distributor has the code ${code}.`)
}

/** How the distributor's jobs replace a slice. It may be changed at any time, so OpenJob asks in its own transaction. */
export const replaceModeOf = async (reader: Reader, distributorId: number): Promise<ReplaceMode> => {
  const [row] = await reader.rows<{ mode: ReplaceMode }>('select replace_mode as mode from distributor where id = ?', [
    distributorId,
  ])
  return row?.mode ?? 'standby'
}

export const activeDistributors = async (reader: Reader): Promise<Distributor[]> =>
  reader.rows<Distributor>(`select ${COLUMNS} from distributor where active order by code`)

/** Every distributor, ended ones too: people add them one by one, so they are never many. */
export const allDistributors = async (reader: Reader): Promise<DistributorLine[]> => {
  const rows = await reader.rows<Distributor>(`select ${COLUMNS} from distributor order by code`)
  return rows.map((row) => ({ ...row, active: Boolean(row.active) }))
}

/** Adds a distributor. Error 1062 says that its code is taken. */
export const addDistributor = async (tx: Tx, fields: DistributorFields): Promise<void> => {
  const { code, name, active, sumRule, partyScheme, overClaim = 'refuse', replaceMode = 'standby' } = fields
  await tx.change(
    `insert into distributor (code, name, active, sum_rule, party_scheme, over_claim, replace_mode)
     values (?, ?, ?, ?, ?, ?, ?)`,
    [code, name, active ? 1 : 0, sumRule, partyScheme, overClaim, replaceMode],
  )
}

/**
 * Changes a distributor, in the caller's transaction.
 *
 * @returns what it was before, read under the row's lock
 * @throws Failure UnknownDistributor
 */
export const setDistributor = async (tx: Tx, fields: DistributorFields): Promise<DistributorFields> => {
  const { code, name, active, sumRule, partyScheme, overClaim, replaceMode } = fields
  await tx.rows('select id from distributor where code = ? for update', [code])
  const before = await findDistributor(tx, code)
  await tx.change(
    `update distributor set name = ?, active = ?, sum_rule = ?, party_scheme = ?, over_claim = ?, replace_mode = ?
     where id = ?`,
    [
      ...[name, active ? 1 : 0, sumRule, partyScheme],
      ...[overClaim ?? before.overClaim, replaceMode ?? before.replaceMode, before.id],
    ],
  )
  return { ...before, active: Boolean(before.active) }
}

/** Adds a distributor, or changes the one with this code. */
export const putDistributor = async (one: Changer, distributor: DistributorFields): Promise<void> => {
  const { code, name, active, sumRule, partyScheme, overClaim = 'refuse', replaceMode = 'standby' } = distributor
  await one.change(
    `insert into distributor (code, name, active, sum_rule, party_scheme, over_claim, replace_mode)
     values (?, ?, ?, ?, ?, ?, ?) as new
     on duplicate key update name = new.name, active = new.active, sum_rule = new.sum_rule,
       party_scheme = new.party_scheme, over_claim = new.over_claim, replace_mode = new.replace_mode`,
    [code, name, active ? 1 : 0, sumRule, partyScheme, overClaim, replaceMode],
  )
}
