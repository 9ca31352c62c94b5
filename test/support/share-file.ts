import { createHash } from 'node:crypto'
import { Fingerprint } from '../../local/fingerprint.ts'
import { generateTracks } from '../../local/generate.ts'

/** A distributor's file as a test knows it: what is uploaded, and what the slice has to hold afterwards. */
export type ShareFile = {
  readonly csv: string
  readonly rows: number
  /** Of all rows, in any order. */
  readonly fingerprint: string
  /** `isrc TAB right_type TAB party_id TAB share` of each row, in the order of the primary key. */
  readonly lines: readonly string[]
}

/** The rows of another seed are another file. */
export const shareFile = (rows: number, seed = 1): ShareFile => {
  const fingerprint = new Fingerprint()
  const lines: string[] = []
  for (const track of generateTracks({ rows, seed, parties: 4_000 }))
    for (const { isrc, rightType, party, share } of track.rows) {
      const line = `${isrc}\t${rightType}\t${party}\t${share}`
      fingerprint.add(line)
      lines.push(line)
    }
  const csv = `isrc,right_type,party_id,share\n${lines.map((line) => line.replaceAll('\t', ',')).join('\n')}\n`
  return { csv, rows: lines.length, fingerprint: fingerprint.toString(), lines: lines.sort() }
}

/** Nothing at all: the fingerprint of a slice without rows. */
export const NO_ROWS = new Fingerprint().toString()

const sha256 = (data: string): string => createHash('sha256').update(data).digest('hex')

const sumOf = (lines: readonly string[]): string => {
  const units = lines.reduce((sum, line) => sum + BigInt(line.split('\t')[3]?.replace('.', '') ?? ''), 0n)
  const digits = units.toString().padStart(7, '0')
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`
}

export type StagedObject = { readonly key: string; readonly body: string }

/**
 * A staged source in chunks far smaller than staging makes them, so that a small slice has many. Written after the
 * format's description, with none of the code that stages files.
 */
export const stagedObjects = (file: ShareFile, chunkRows: number): { digest: string; objects: StagedObject[] } => {
  const chunks: string[][] = []
  for (const line of file.lines) {
    const chunk = chunks.at(-1)
    const continuesTrack = chunk?.at(-1)?.slice(0, 12) === line.slice(0, 12)
    if (chunk === undefined || (chunk.length >= chunkRows && !continuesTrack)) chunks.push([line])
    else chunk.push(line)
  }
  const digest = sha256(`${file.fingerprint} in chunks of ${chunkRows}`)
  const bodies = chunks.map((lines) => `${lines.join('\n')}\n`)
  const manifest = {
    version: 1,
    digest,
    rows: file.rows,
    shareSum: sumOf(file.lines),
    tracks: new Set(file.lines.map((line) => line.slice(0, 12))).size,
    parties: new Set(file.lines.map((line) => line.split('\t')[2])).size,
    chunks: chunks.map((lines, number) => ({
      number,
      rows: lines.length,
      bytes: bodies[number]?.length,
      digest: sha256(bodies[number] ?? ''),
      firstIsrc: lines[0]?.slice(0, 12),
      lastIsrc: lines.at(-1)?.slice(0, 12),
    })),
  }
  const objects = bodies.map((body, number) => ({
    key: `staged/${digest}/${String(number).padStart(6, '0')}.tsv`,
    body,
  }))
  return { digest, objects: [...objects, { key: `staged/${digest}/manifest.json`, body: JSON.stringify(manifest) }] }
}
