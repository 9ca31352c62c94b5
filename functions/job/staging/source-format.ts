import type { Encoding } from '../../contract/encodings.ts'

/** What was found out about a file on the way; filled in while it is read. */
export type SourceFormat = { compressed: boolean; encoding: SourceEncoding }

/**
 * What the text of a file is in. `ascii` is one that never left ASCII, which each of the others may also be called; `xlsx`
 * a workbook, whose encoding nobody chooses; `unknown` a file that was refused before its text was read.
 */
type SourceEncoding = 'unknown' | 'xlsx' | 'ascii' | Exclude<Encoding, 'detected'>

/** A file of which nothing is known yet. */
export const unknownFormat = (): SourceFormat => ({ compressed: false, encoding: 'unknown' })
