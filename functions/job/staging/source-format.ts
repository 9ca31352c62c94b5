import type { Encoding } from '../../contract/encodings.ts'

/** What was found out about a file on the way; filled in while it is read. */
export type SourceFormat = { compressed: boolean; encoding: SourceEncoding }

/** The encodings a file may have. `ascii` is one that never left ASCII, which each of the others may also be called. */
type SourceEncoding = 'ascii' | Exclude<Encoding, 'detected'>
