import { monthDate } from '../../contract/words.ts'
import type { Reader } from '../mysql/tx.ts'
import { JOB_COLUMNS, type JobRow } from './row.ts'

/**
 * An active distributor and the newest job of its slice of a month; every column is null where it never had one.
 */
export type MonthSlice = { readonly distributor: string } & (JobRow | { readonly [Column in keyof JobRow]: null })

/** Every active distributor with its slice of the month. One row of the slice's key is read of each, backwards. */
export const activeSlices = async (reader: Reader, month: string): Promise<MonthSlice[]> =>
  reader.rows<MonthSlice>(
    `select d.code as distributor, ${JOB_COLUMNS}
     from distributor d
     left join lateral (select n.id from job n
                        where n.distributor_id = d.id and n.settlement_month = ?
                        order by n.distributor_id desc, n.settlement_month desc, n.fence desc limit 1) newest on true
     left join job j on j.id = newest.id
     where d.active order by d.code`,
    [monthDate(month)],
  )

/** The codes of active distributors of whose slice no job was ever REGISTERED, or only ones that were withdrawn. */
export const unregistered = async (reader: Reader, month: string): Promise<string[]> => {
  const rows = await reader.rows<{ code: string }>(
    `select d.code from distributor d
     where d.active and not exists (select 1 from job j
                                    where j.distributor_id = d.id and j.settlement_month = ? and j.state = 'REGISTERED'
                                      and j.withdrawn_at is null)
     order by d.code`,
    [monthDate(month)],
  )
  return rows.map(({ code }) => code)
}
