import type { Manifest } from '../../functions/contract/manifest.ts'
import type { Validation } from './start-plan.ts'

/* What a thread that reads a file, and the thread that wants it read, say to each other. */

/** To the reader. `bytes` and `end` answer a `more`, `body` asks for a chunk of an accepted file. */
export type ToReader =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'body'; readonly number: number }

/** From the reader. */
export type FromReader =
  | { readonly kind: 'more' }
  | { readonly kind: 'rows'; readonly rows: number }
  /** The verdict; `chunks` is null where the file is refused. */
  | { readonly kind: 'read'; readonly validation: Validation; readonly chunks: Manifest['chunks'] | null }
  | { readonly kind: 'body'; readonly number: number; readonly bytes: Uint8Array }
