import type { Neighbours } from '../contract/warnings.ts'
import { monthDate, type Slice } from '../contract/words.ts'
import type { Reader } from './mysql/tx.ts'

/** Months that are named beside a set: one says what it is, and a list of all of them says no more. */
const SAME_SHOWN_MAX = 3

type Found = { readonly month: string; readonly job: number; readonly rows: number }

/**
 * What the jobs of a distributor tell of a set: where the same rows are registered, what the month before holds, and
 * whether this slice had them. Each reads along the key that begins with the distributor.
 */
export const neighboursOf = async (reader: Reader, slice: Slice, digest: string): Promise<Neighbours> => {
  const of = [slice.distributorId, monthDate(slice.month)]
  const same = await reader.rows<Found>(
    `select date_format(settlement_month, '%Y-%m') as month, max(id) as job from job
     where distributor_id = ? and settlement_month <> ? and source_digest = ? and state = 'REGISTERED'
       and withdrawn_at is null
     group by settlement_month order by settlement_month desc limit ?`,
    [...of, digest, SAME_SHOWN_MAX],
  )
  const [before] = await reader.rows<Found>(
    `select date_format(settlement_month, '%Y-%m') as month, id as job, source_rows as ${'`rows`'} from job
     where distributor_id = ? and settlement_month < ? and state = 'REGISTERED'
       and withdrawn_at is null
     order by settlement_month desc, fence desc limit 1`,
    of,
  )
  const opened = await reader.rows(
    'select 1 from job where distributor_id = ? and settlement_month = ? and source_digest = ? limit 1',
    [...of, digest],
  )
  return { same, before: before ?? null, wasOpened: opened.length > 0 }
}
