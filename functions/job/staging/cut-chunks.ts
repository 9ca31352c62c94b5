import { createHash } from 'node:crypto'
import { formatUnits, type HeldRows, type Manifest, type ManifestChunk } from '../../contract/manifest.ts'
import { LINE_BYTES_MAX, lineBegin, lineRest } from '../../contract/row-format.ts'
import type { SortedRows } from './row-table.ts'

/** A staged source that is not written yet: chunk bodies are made when they are asked for, never all at once. */
export type StagedSource = {
  readonly manifest: Manifest
  /** The body of the chunk of that number, the same bytes at every call. */
  body(number: number): Buffer
  /** The rows that were left out; null where there are none. */
  readonly heldBody: Buffer | null
}

type Held = { readonly body: Buffer; readonly held: HeldRows }

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')

/** Rows `from` up to `to` (exclusive) as lines of contract/row-format.ts. */
export const bodyOf = (rows: SortedRows, from: number, to: number): Buffer => {
  // Written line by line: joining the lines of a chunk into one string first takes three times as long.
  const body = Buffer.allocUnsafe((to - from) * LINE_BYTES_MAX)
  let length = 0
  let begin = ''
  for (let row = from; row < to; row++) {
    if (row === from || !rows.continuesGroup(row)) begin = lineBegin(rows, row)
    length += body.write(begin + lineRest(rows, row), length, 'latin1')
  }
  return body.subarray(0, length)
}

/** The first row of each chunk: as many whole tracks as fit into `chunkRowsMax` rows. A track must fit on its own. */
const chunkStarts = (rows: SortedRows, chunkRowsMax: number): { starts: number[]; tracks: number } => {
  const starts = [0]
  let tracks = 0
  let trackStart = 0
  for (let row = 1; row <= rows.count; row++) {
    if (row < rows.count && rows.continuesTrack(row)) continue
    tracks += 1
    if (row - (starts.at(-1) ?? 0) > chunkRowsMax) starts.push(trackStart)
    trackStart = row
  }
  return { starts, tracks }
}

/**
 * Cuts valid, sorted rows into chunks and addresses them by their content: the digest covers each chunk's digest in
 * order, and the format with the chunk size, which decides where the cuts are. The same shares give the same address,
 * whatever the file's encoding, compression, columns and order of rows were.
 */
export const cutChunks = (rows: SortedRows, chunkRowsMax: number, held?: Held): StagedSource => {
  const { starts, tracks } = chunkStarts(rows, chunkRowsMax)
  const endOf = (number: number): number => starts[number + 1] ?? rows.count
  const body = (number: number): Buffer => bodyOf(rows, starts[number] as number, endOf(number))
  const address = createHash('sha256').update(`sharelock staged source 1, ${chunkRowsMax} rows a chunk\n`)
  const chunks = starts.map((start, number): ManifestChunk => {
    const bytes = body(number)
    const digest = sha256(bytes)
    address.update(`${digest}\n`)
    const [firstIsrc, lastIsrc] = [rows.isrc(start), rows.isrc(endOf(number) - 1)]
    return { number, rows: endOf(number) - start, bytes: bytes.length, digest, firstIsrc, lastIsrc }
  })
  if (held !== undefined) address.update(`held ${held.held.digest}\n`)
  let units = 0
  for (let row = 0; row < rows.count; row++) units += rows.units(row)
  const shareSum = formatUnits(BigInt(units))
  const totals = { rows: rows.count, shareSum, tracks, parties: rows.parties }
  const digest = address.digest('hex')
  return {
    manifest: { version: 1, digest, ...totals, chunks, ...(held && { held: held.held }) },
    body,
    heldBody: held?.body ?? null,
  }
}
