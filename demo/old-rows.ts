import { monthDate, type Slice } from '../functions/contract/words.ts'
import type { DatabaseAddress } from '../functions/store/mysql/connection.ts'
import { Database } from '../functions/store/mysql/database.ts'
import { LOAD_ROWS } from '../functions/store/share-ratio.ts'
import { Fingerprint } from '../local/fingerprint.ts'
import { generateTracks } from '../local/generate.ts'

const BATCH_ROWS = 20_000

/** Fills a slice as the old system left it: rows without a job. @returns what it holds then */
export const loadOldRows = async (
  address: DatabaseAddress,
  slice: Slice,
  rows: number,
  seed: number,
): Promise<Fingerprint> => {
  const database = new Database(address)
  const fingerprint = new Fingerprint()
  const key = [slice.distributorId, monthDate(slice.month), 0]
  let lines: string[] = []
  const flush = async () => {
    if (lines.length > 0) await database.load(LOAD_ROWS, key, Buffer.from(`${lines.join('\n')}\n`))
    lines = []
  }
  for (const track of generateTracks({ rows, seed, order: 'key' })) {
    for (const { isrc, rightType, party, share } of track.rows) {
      const line = [isrc, rightType, party, share].join('\t')
      fingerprint.add(line)
      lines.push(line)
    }
    if (lines.length >= BATCH_ROWS) await flush()
  }
  await flush()
  await database.close()
  return fingerprint
}
