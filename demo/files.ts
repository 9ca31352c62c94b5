import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { parse } from 'csv-parse'
import iconv from 'iconv-lite'
import { Fingerprint } from '../local/fingerprint.ts'
import { csvOf, type Track } from '../local/generate.ts'

/** A file on disk and what the slice has to hold once it is registered. */
export type ExpectedFile = { readonly path: string; readonly fingerprint: Fingerprint }

/** Writes a generated file and takes its fingerprint from the rows as they pass. */
export const writeFile = async (path: string, tracks: Iterable<Track>): Promise<ExpectedFile> => {
  const fingerprint = new Fingerprint()
  const watched = function* (): Generator<Track> {
    for (const track of tracks) {
      for (const { isrc, rightType, party, share } of track.rows)
        fingerprint.add([isrc, rightType, party, share].join('\t'))
      yield track
    }
  }
  await pipeline(csvOf(watched()), createWriteStream(path))
  return { path, fingerprint }
}

/** `25` -> `25.000000`, as MySQL prints a decimal(9,6). */
const sixDecimals = (share: string): string => {
  const [whole = '', decimals = ''] = share.trim().split('.')
  return `${String(BigInt(whole))}.${decimals.padEnd(6, '0')}`
}

const encodingOf = (head: Buffer): string => {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  return 'utf-8'
}

/**
 * The fingerprint of somebody's own file, read a second time and by other means than the system under test: its columns
 * are ASCII, so any encoding that extends ASCII reads as UTF-8 here.
 */
export const readFingerprint = async (path: string): Promise<Fingerprint> => {
  const fingerprint = new Fingerprint()
  const head = Buffer.alloc(2)
  for await (const piece of createReadStream(path, { end: 1 })) (piece as Buffer).copy(head)
  const compressed = head[0] === 0x1f && head[1] === 0x8b
  const bytes = compressed ? createReadStream(path).pipe(createGunzip()) : createReadStream(path)
  const records = bytes.pipe(iconv.decodeStream(compressed ? 'utf-8' : encodingOf(head))).pipe(
    parse({
      bom: true,
      skip_empty_lines: true,
      columns: (names: string[]) => names.map((name) => name.trim().toLowerCase()),
    }),
  )
  for await (const record of records as AsyncIterable<Record<string, string>>) {
    const isrc = (record.isrc ?? '')
      .toUpperCase()
      .replace(/[\s-]/g, '')
      .replace(/^ISRC:?/, '')
    const right = (record.right_type ?? '').trim().toUpperCase()
    fingerprint.add([isrc, right, (record.party_id ?? '').trim(), sixDecimals(record.share ?? '')].join('\t'))
  }
  return fingerprint
}

/** How a file is named in S3, so that two files of one name do not meet. */
export const uploadKey = (distributor: string, month: string, path: string): string =>
  `incoming/${distributor}/${month}/${createHash('sha256').update(path).digest('hex').slice(0, 8)}.csv`
