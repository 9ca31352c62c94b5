import { createHash } from 'node:crypto'
import { type SliceName, sliceName } from '../../contract/words.ts'

/** A lock that somebody has; null: without an end. */
export type Held = { readonly holder: string; readonly remainingMs: number | null }

/**
 * A token is `<execution name>/<uuid>`: unique per acquisition, and it says who holds the lock. Only the holder's name
 * is ever shown; anyone who knew the whole token could release the lock.
 */
export const holderOf = (token: string): string => token.split('/')[0] ?? token

/** How a token appears in logs. */
export const tokenDigest = (token: string): string => createHash('sha256').update(token).digest('hex').slice(0, 12)

/**
 * What PTTL replied for a key that exists: milliseconds, or null for a lock without an end, which no run of ours sets.
 */
export const remainingOf = (pttl: number): number | null => (pttl < 0 ? null : pttl)

/** Who has the slice, in a sentence for whoever does not get it. */
export const heldText = (slice: SliceName, { holder, remainingMs }: Held): string =>
  `${sliceName(slice)} is being replaced by the run ${holder}; its lock ${lastsText(remainingMs)}.`

/** `lasts 290 s unless it is extended`, behind the words "its lock". */
export const lastsText = (remainingMs: number | null): string =>
  remainingMs === null ? 'never ends by itself' : `lasts ${Math.ceil(remainingMs / 1_000)} s unless it is extended`
