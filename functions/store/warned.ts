import type { WarnedFile, Warning } from '../contract/warnings.ts'
import { monthDate, type Slice } from '../contract/words.ts'
import { isoTime } from './mysql/time.ts'
import type { Changer, Reader } from './mysql/tx.ts'

/** A delivered file that was not started, since nobody had confirmed its warnings. */
export type Warned = {
  readonly key: string
  readonly etag: string
  readonly digest: string
  readonly execution: string
  readonly warnings: readonly Pick<Warning, 'name' | 'count'>[]
}

/** Notes the newest such file of a slice, in the place of an older one. */
export const writeWarned = async (one: Changer, slice: Slice, warned: Warned): Promise<void> => {
  const { key, etag, digest, execution, warnings } = warned
  const counts = warnings.map(({ name, count }) => ({ name, count }))
  await one.change(
    `insert into warned_file (distributor_id, settlement_month, source_key, etag, source_digest, execution, warnings)
     values (?, ?, ?, ?, ?, ?, ?) as new
     on duplicate key update source_key = new.source_key, etag = new.etag, source_digest = new.source_digest,
       execution = new.execution, warnings = new.warnings, at = current_timestamp(6)`,
    [slice.distributorId, monthDate(slice.month), key, etag, digest, execution, JSON.stringify(counts)],
  )
}

/**
 * The files that wait for an operator: those of whose slice no job was opened since. The newest month comes first.
 */
export const warnedFiles = async (
  reader: Reader,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<WarnedFile[]> => {
  const rows = await reader.rows<WarnedFile>(
    `select d.code as distributor, date_format(w.settlement_month, '%Y-%m') as month, w.source_key as ${'`key`'},
            w.etag, w.source_digest as digest, w.execution, w.warnings, w.at
     from warned_file w join distributor d on d.id = w.distributor_id
     where w.settlement_month between ? and ? and d.active
       and not exists (select 1 from job j where j.distributor_id = w.distributor_id
                         and j.settlement_month = w.settlement_month and j.opened_at > w.at)
     order by w.settlement_month desc, d.code`,
    [monthDate(from), monthDate(to)],
  )
  return rows.map((row) => ({ ...row, at: isoTime(row.at) }))
}
