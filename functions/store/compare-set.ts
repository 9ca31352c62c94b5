import { SCAN_TIMEOUT_MS } from '../contract/limits.ts'
import { formatUnits, type Manifest, type ManifestChunk, parseUnits } from '../contract/manifest.ts'
import { counted } from '../contract/numbers.ts'
import { BORDER_TRACKS, LINE_END, VALUE_END } from '../contract/row-format.ts'
import { monthDate, type SlotKey } from '../contract/words.ts'
import type { Reader } from './mysql/tx.ts'

type RangeFacts = { readonly count: number; readonly total: string | null; readonly digest: string | null }

/**
 * The rows of one staged object as they lie in the slot: their number, their sum, and the SHA-256 of the lines that they would
 * be staged as, every column included. Lines come in the order of the clustered key; in another they would differ and be
 * refused, never accepted.
 */
const rangeFacts = async (reader: Reader, key: SlotKey, from: string, before: string): Promise<RangeFacts> => {
  const [facts] = await reader.rows<RangeFacts>(
    `select count(*) as count, sum(share) as total,
            sha2(group_concat(isrc, '${VALUE_END}', right_type, '${VALUE_END}', party_id, '${VALUE_END}', share, '${LINE_END}'
                              separator ''), 256) as digest
     from share_ratio
     where distributor_id = ? and settlement_month = ? and slot = ? and isrc > '${BORDER_TRACKS.lowest}'
       and isrc >= ? and isrc < ?`,
    [key.distributorId, monthDate(key.month), key.slot, from, before],
    { timeoutMs: SCAN_TIMEOUT_MS },
  )
  return facts ?? { count: 0, total: null, digest: null }
}

/** What a slot holds beside what a manifest promises. */
export type Comparison = {
  readonly rows: number
  readonly shareSum: string
  /** What differs first, as the end of a sentence that begins with the slice; null where every column of every row is equal. */
  readonly difference: string | null
}

/**
 * Compares a slot with a manifest: count, exact sum, and every column of every row by the digests of its staged objects.
 * The ranges of the objects cover the whole slot, so a row that nobody staged falls into one of them. Reads the slot once.
 * See decisions.md, "A set is compared by the digests of its staged objects".
 */
export const compareSet = async (reader: Reader, key: SlotKey, manifest: Manifest): Promise<Comparison> => {
  let rows = 0
  let units = 0n
  let differing: ManifestChunk | undefined
  for (const [index, chunk] of manifest.chunks.entries()) {
    const from = index === 0 ? BORDER_TRACKS.lowest : chunk.firstIsrc
    const before = manifest.chunks[index + 1]?.firstIsrc ?? BORDER_TRACKS.highest
    const facts = await rangeFacts(reader, key, from, before)
    rows += facts.count
    units += parseUnits(facts.total ?? '0.000000')
    if (facts.digest !== chunk.digest) differing ??= chunk
  }
  const shareSum = formatUnits(units)
  return { rows, shareSum, difference: differenceOf({ rows, shareSum }, manifest, differing) }
}

const differenceOf = (
  { rows, shareSum }: { readonly rows: number; readonly shareSum: string },
  manifest: Manifest,
  differing: ManifestChunk | undefined,
): string | null => {
  if (rows !== manifest.rows || shareSum !== manifest.shareSum)
    return `holds ${counted(rows, 'row')} summing to ${shareSum}, the file has ${counted(manifest.rows, 'row')} summing to ${manifest.shareSum}`
  if (differing === undefined) return null
  return `holds as many rows with the same sum as the file, and other ones: they differ between the tracks ${differing.firstIsrc} and ${differing.lastIsrc}`
}
