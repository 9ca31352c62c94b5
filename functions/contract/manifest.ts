import { z } from 'zod'

/** Hexadecimal SHA-256. */
export const Digest = z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256 in 64 lower-case hexadecimal digits')
export type Digest = z.infer<typeof Digest>

/** A sum of shares as exact decimal text with six decimals, e.g. `80000000.000000`; never a float. */
export const ShareSum = z.string().regex(/^\d+\.\d{6}$/, 'a decimal number with six decimals')

/**
 * One staged object: `staged/<digest>/<number>.tsv`. Lines `isrc TAB right_type TAB party_id TAB share LF`, sorted by
 * (isrc, right_type, party_id) in byte order, no track split over two chunks. `digest` is the object's own SHA-256.
 */
export const ManifestChunk = z.strictObject({
  number: z.int().min(0),
  rows: z.int().min(1),
  bytes: z.int().min(1),
  digest: Digest,
  firstIsrc: z.string(),
  lastIsrc: z.string(),
})
export type ManifestChunk = z.infer<typeof ManifestChunk>

/**
 * Rows that were left out, since the shares of their tracks exceed 100, as one object `staged/<digest>/held.tsv` of lines as a
 * chunk's; `digest` is its SHA-256. Together with what is registered they are the whole file, which was counted before.
 */
export const HeldRows = z.strictObject({
  rows: z.int().min(1),
  shareSum: ShareSum,
  tracks: z.int().min(1),
  firstTracks: z.array(z.string()).min(1),
  bytes: z.int().min(1),
  digest: Digest,
  file: z.strictObject({ rows: z.int().min(2), shareSum: ShareSum }),
})
export type HeldRows = z.infer<typeof HeldRows>

/** `staged/<digest>/manifest.json`: written last. It says what every chunk is; whether they are there only a look tells. */
export const Manifest = z.strictObject({
  version: z.literal(1),
  digest: Digest,
  rows: z.int().min(1),
  shareSum: ShareSum,
  tracks: z.int().min(1),
  parties: z.int().min(1),
  chunks: z.array(ManifestChunk).min(1),
  /** Part of what the digest is of: the same rows beside other held ones are another staged source. */
  held: HeldRows.optional(),
})
export type Manifest = z.infer<typeof Manifest>

/** The folder of a staged source; its objects and nothing else are in it. */
export const stagedPrefix = (digest: string): string => `staged/${digest}/`
export const manifestKey = (digest: string): string => `${stagedPrefix(digest)}manifest.json`
export const heldKey = (digest: string): string => `${stagedPrefix(digest)}held.tsv`
export const chunkKey = (digest: string, number: number): string =>
  `${stagedPrefix(digest)}${String(number).padStart(6, '0')}.tsv`

/** A staged share or sum, which has exactly six decimals, as millionths of a percent: `25.000000` -> 25_000_000n. */
export const parseUnits = (text: string): bigint => BigInt(text.replace('.', ''))

/** Millionths of a percent as decimal text: 25_000_000n -> `25.000000`. */
export const formatUnits = (units: bigint): string => {
  const digits = units.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}
