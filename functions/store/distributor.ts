import { Failure } from '../contract/errors.ts'
import type { PartyScheme, SumRule } from '../contract/words.ts'
import type { Database } from './database.ts'

export type Distributor = {
  readonly id: number
  readonly code: string
  readonly name: string
  readonly active: boolean
  readonly sumRule: SumRule
  readonly partyScheme: PartyScheme
}

const COLUMNS = 'id, code, name, active = 1 as active, sum_rule as sumRule, party_scheme as partyScheme'

/** @throws Failure UnknownDistributor: a code is never created on the fly, a typo must not open a new slice */
export const findDistributor = async (database: Database, code: string): Promise<Distributor> => {
  const [found] = await database.rows<Distributor>(`select ${COLUMNS} from distributor where code = ?`, [code])
  if (found !== undefined) return found
  throw new Failure(
    'UnknownDistributor',
    `No distributor has the code ${code}. Codes are case-sensitive; add a new one before its first file.`,
  )
}

export const activeDistributors = async (database: Database): Promise<Distributor[]> =>
  database.rows<Distributor>(`select ${COLUMNS} from distributor where active order by code`)

/** Adds a distributor, or changes the one with this code. */
export const putDistributor = async (database: Database, distributor: Omit<Distributor, 'id'>): Promise<void> => {
  const { code, name, active, sumRule, partyScheme } = distributor
  await database.change(
    `insert into distributor (code, name, active, sum_rule, party_scheme) values (?, ?, ?, ?, ?) as new
     on duplicate key update name = new.name, active = new.active, sum_rule = new.sum_rule,
       party_scheme = new.party_scheme`,
    [code, name, active ? 1 : 0, sumRule, partyScheme],
  )
}
