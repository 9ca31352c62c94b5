import { lockKey, type Slice } from '../../contract/words.ts'
import type { LockClient } from './client.ts'
import { runScript } from './run.ts'

/**
 * KEYS[1] lock key; ARGV[1] token. Replies 1 (released) or 0 (not ours, or gone).
 * An unconditional DEL is how one run deleted another's lock in the old system.
 */
const RELEASE = `#!lua flags=allow-oom
if redis.call('get', KEYS[1]) == ARGV[1] then
  return redis.call('del', KEYS[1])
end
return 0
`

/** Deletes the lock where its value is our token. False: it expired before or is another run's. */
export const release = async (client: LockClient, slice: Pick<Slice, 'distributor' | 'month'>, token: string) =>
  (await runScript(client, RELEASE, lockKey(slice), token)) === 1
