import { LOCK_TTL_MS } from '../../contract/limits.ts'
import { lockKey, type Slice } from '../../contract/words.ts'
import type { LockClient } from './client.ts'
import { holderOf } from './holder.ts'
import { runScript } from './run.ts'

/**
 * KEYS[1] lock key; ARGV[1] token. Replies 1 (released) or 0 (not ours, or gone).
 * An unconditional DEL is how one run deleted another's lock in the old system.
 */
const RELEASE = `
if redis.call('get', KEYS[1]) == ARGV[1] then
  return redis.call('del', KEYS[1])
end
return 0
`

/** Deletes the lock where its value is our token. False: it expired before or is another run's. */
export const release = async (client: LockClient, slice: Pick<Slice, 'distributor' | 'month'>, token: string) =>
  (await runScript(client, RELEASE, lockKey(slice), token)) === 1

/** KEYS[1] lock key. Replies {token, remaining ms} or nil. */
const INSPECT = `
local holder = redis.call('get', KEYS[1])
if holder then
  return {holder, redis.call('pttl', KEYS[1])}
end
return false
`

/** Who holds a slice's lock and for how long at most, without touching it. */
export const inspect = async (
  client: LockClient,
  slice: Pick<Slice, 'distributor' | 'month'>,
): Promise<{ holder: string; remainingMs: number } | null> => {
  const reply = (await runScript(client, INSPECT, lockKey(slice))) as [string, number] | null
  return reply === null ? null : { holder: holderOf(reply[0]), remainingMs: Math.min(reply[1], LOCK_TTL_MS) }
}
