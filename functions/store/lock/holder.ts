import { createHash } from 'node:crypto'

/**
 * A token is `<execution name>/<uuid>`: unique per acquisition, and it says who holds the lock. Only the holder's name
 * is ever shown; whoever knew the whole token could release the lock.
 */
export const holderOf = (token: string): string => token.split('/')[0] ?? token

/** How a token appears in logs. */
export const tokenDigest = (token: string): string => createHash('sha256').update(token).digest('hex').slice(0, 12)
