import type { HeldRows } from '../contract/manifest.ts'
import type { Changer, Reader } from './mysql/tx.ts'

/** Notes what was left out of a staged source; a repetition finds it there. */
export const writeHeld = async (one: Changer, digest: string, held: HeldRows): Promise<void> => {
  await one.change(
    `insert ignore into held_set (source_digest, held_rows, held_share_sum, held_tracks, first_tracks, object_bytes,
                                  object_digest, file_rows, file_share_sum)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[digest, held.rows, held.shareSum, held.tracks, JSON.stringify(held.firstTracks), held.bytes, held.digest],
      ...[held.file.rows, held.file.shareSum],
    ],
  )
}

type Row = Omit<HeldRows, 'file'> & {
  readonly source: string
  readonly fileRows: number
  readonly fileShareSum: string
}

/** What was left out of some staged sources, by their digests; a set of which nothing was is not among them. */
export const heldOf = async (reader: Reader, digests: readonly string[]): Promise<ReadonlyMap<string, HeldRows>> => {
  if (digests.length === 0) return new Map()
  const rows = await reader.rows<Row>(
    `select source_digest as source, held_rows as ${'`rows`'}, held_share_sum as shareSum, held_tracks as tracks,
            first_tracks as firstTracks, object_bytes as bytes, object_digest as digest,
            file_rows as fileRows, file_share_sum as fileShareSum
     from held_set where source_digest in (?)`,
    [[...digests]],
  )
  return new Map(
    rows.map(({ source, fileRows, fileShareSum, ...held }) => [
      source,
      { ...held, file: { rows: fileRows, shareSum: fileShareSum } },
    ]),
  )
}
