import { Failure } from '../../contract/failures.ts'
import { LOCK_FRESH_SHARE, LOCK_TTL_MS } from '../../contract/limits.ts'
import { lockKey, type Slice, sliceName } from '../../contract/words.ts'
import type { LockClient } from './client.ts'
import { type Held, holderOf, remainingOf } from './holder.ts'
import { release } from './release.ts'
import { runScript } from './run.ts'

/**
 * KEYS[1] lock key; ARGV[1] token; ARGV[2] TTL in ms.
 * Replies {'acquired'}, {'mine'} (the same token again: the reply to an earlier call was lost) or {'held', token, ms}.
 * A token that is already set is extended, so 'mine' is as fresh as 'acquired'.
 */
const ACQUIRE = `#!lua
local holder = redis.call('get', KEYS[1])
if holder == ARGV[1] then
  redis.call('pexpire', KEYS[1], ARGV[2])
  return {'mine'}
end
if holder then
  return {'held', holder, redis.call('pttl', KEYS[1])}
end
redis.call('set', KEYS[1], ARGV[1], 'nx', 'px', ARGV[2])
return {'acquired'}
`

/** Takes the lock or says who holds it and for how long (null: without an end). Null in all: it is ours. */
export const tryAcquire = async (
  client: LockClient,
  slice: Slice,
  token: string,
  ttlMs: number = LOCK_TTL_MS,
): Promise<Held | null> => {
  const startedAt = performance.now()
  const [verdict, holder, remainingMs] = (await runScript(client, ACQUIRE, lockKey(slice), token, ttlMs)) as [
    string,
    string?,
    number?,
  ]
  if (verdict === 'held') return { holder: holderOf(holder ?? ''), remainingMs: remainingOf(remainingMs ?? 0) }
  const elapsedMs = performance.now() - startedAt
  if (elapsedMs <= ttlMs * (1 - LOCK_FRESH_SHARE)) return null
  // The TTL ran while the reply travelled: a lock returned now could already be somebody else's.
  await release(client, slice, token)
  throw new Failure('LockUnreachable', `Acquiring the lock of ${sliceName(slice)} took ${Math.round(elapsedMs)} ms`)
}
