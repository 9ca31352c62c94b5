import pMap from 'p-map'
import { lockKey, type Slice } from '../../contract/words.ts'
import type { LockClient } from './client.ts'
import { holderOf, remainingOf } from './holder.ts'
import { runScript } from './run.ts'

/** KEYS[1] lock key. Replies {token, remaining ms, or -1 where it has no end} or nil. */
const INSPECT = `#!lua flags=allow-oom
local holder = redis.call('get', KEYS[1])
if holder then
  return {holder, redis.call('pttl', KEYS[1])}
end
return false
`

/**
 * A lock as it was seen. The token never leaves the functions: anyone who had it could release the lock. `remainingMs`
 * is Valkey's own figure, which a stranger may have set beyond our TTL; null: the lock never ends by itself.
 */
export type SeenLock = { readonly token: string; readonly holder: string; readonly remainingMs: number | null }

/** Who holds a slice's lock and for how long unless it is extended, without touching it. A replica is not believed. */
export const inspect = async (
  client: LockClient,
  slice: Pick<Slice, 'distributor' | 'month'>,
): Promise<SeenLock | null> => {
  const reply = (await runScript(client, INSPECT, lockKey(slice))) as [string, number] | null
  if (reply === null) return null
  const [token, leftMs] = reply
  return { token, holder: holderOf(token), remainingMs: remainingOf(leftMs) }
}

/** Locks asked for at once: they share one connection, and each must be answered within its own time. */
const INSPECTED_AT_ONCE = 100

/** The locks of many slices, in their order. There is no command that lists locks, so each slice is asked for. */
export const inspectAll = async (
  client: LockClient,
  slices: readonly Pick<Slice, 'distributor' | 'month'>[],
): Promise<(SeenLock | null)[]> => pMap(slices, (slice) => inspect(client, slice), { concurrency: INSPECTED_AT_ONCE })
