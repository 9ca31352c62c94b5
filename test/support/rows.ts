import type { ManifestChunk } from '../../functions/contract/manifest.ts'
import { monthDate, type Slice } from '../../functions/contract/words.ts'
import type { Channel } from '../../functions/store/mysql/tx.ts'
import { LOAD_ROWS } from '../../functions/store/share-ratio.ts'

/*
 * What the product has no door for: rows and plans that are there without a guard, as an older month or another program
 * leaves them.
 */

/** Loads lines of a staged object into a slice, whatever state its job is in. */
export const loadRows = async (
  channel: Channel,
  slice: Slice,
  body: Buffer,
): Promise<{ rows: number; warnings: number }> => {
  const result = await channel.load(LOAD_ROWS, [slice.distributorId, monthDate(slice.month), 0], body)
  return { rows: result.affectedRows, warnings: result.warningStatus }
}

/** Writes a register plan, whatever state the job is in. */
export const planChunks = async (channel: Channel, job: number, chunks: readonly ManifestChunk[]): Promise<void> => {
  await channel.change('insert into job_chunk (job_id, phase, number, from_isrc, object_digest, row_count) values ?', [
    chunks.map((chunk) => [job, 'register', chunk.number, chunk.firstIsrc, chunk.digest, chunk.rows]),
  ])
}
