import type { ManifestChunk } from '../../functions/contract/manifest.ts'
import { monthDate, type Slice, type Slot } from '../../functions/contract/words.ts'
import type { Channel } from '../../functions/store/mysql/tx.ts'
import { LOAD_ROWS } from '../../functions/store/share-ratio.ts'

/*
 * What the product has no door for: rows and plans that are there without a guard, as an older month or another program
 * leaves them.
 */

/** Loads lines of a staged object into a slice, whatever state its job is in. */
export const loadRows = async (
  channel: Channel,
  { slot = 0, ...slice }: Slice & { readonly slot?: Slot },
  body: Buffer,
): Promise<{ rows: number; warnings: number }> => {
  const result = await channel.load(LOAD_ROWS, [slice.distributorId, monthDate(slice.month), slot], body)
  return { rows: result.affectedRows, warnings: result.warningStatus }
}

/** Writes a register plan, whatever state the job is in. */
export const planChunks = async (channel: Channel, job: number, chunks: readonly ManifestChunk[]): Promise<void> => {
  await channel.change('insert into job_chunk (job_id, phase, number, from_isrc, object_digest, row_count) values ?', [
    chunks.map((chunk) => [job, 'register', chunk.number, chunk.firstIsrc, chunk.digest, chunk.rows]),
  ])
}

/** Makes a job REGISTERED and shows its set, whatever is in its slot. */
export const showJob = async (channel: Channel, job: number): Promise<void> => {
  await channel.change(`update job set state = 'REGISTERED', registered_at = current_timestamp(6) where id = ?`, [job])
  await channel.change(
    `update active_set a join job j on j.distributor_id = a.distributor_id and j.settlement_month = a.settlement_month
     set a.slot = j.slot, a.job_id = j.id where j.id = ?`,
    [job],
  )
}
