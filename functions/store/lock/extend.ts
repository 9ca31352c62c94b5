import { Failure } from '../../contract/failures.ts'
import { LOCK_TTL_MS } from '../../contract/limits.ts'
import { lockKey, type Slice, sliceName } from '../../contract/words.ts'
import type { LockClient } from './client.ts'
import { holderOf } from './holder.ts'
import { runScript } from './run.ts'

/**
 * KEYS[1] lock key; ARGV[1] token; ARGV[2] TTL in ms. Replies {'held', ms that were left}, {'expired'} or
 * {'taken', token}.
 * It never sets the key: a run that lost the lock must acquire a new one, and then meet the job row as everybody does.
 */
const EXTEND = `#!lua flags=allow-oom
local holder = redis.call('get', KEYS[1])
if holder == ARGV[1] then
  local left = redis.call('pttl', KEYS[1])
  redis.call('pexpire', KEYS[1], ARGV[2])
  return {'held', left}
end
if holder then
  return {'taken', holder}
end
return {'expired'}
`

/**
 * Verifies that the lock is still ours and gives it its whole TTL again.
 *
 * @returns milliseconds since it was acquired or extended before; 0 where that is not known
 * @throws Failure LockLost where it expired or another run took it; LockUnreachable
 */
export const extend = async (
  client: LockClient,
  slice: Slice,
  token: string,
  ttlMs: number = LOCK_TTL_MS,
): Promise<number> => {
  const [verdict, detail] = (await runScript(client, EXTEND, lockKey(slice), token, ttlMs)) as [
    string,
    (string | number)?,
  ]
  // A lock that a stranger made longer, or endless, does not tell when it was extended last.
  if (verdict === 'held') return Number(detail) < 0 ? 0 : Math.max(0, ttlMs - Number(detail))
  const what = detail === undefined ? 'has expired' : `was taken by ${holderOf(String(detail))}`
  throw new Failure(
    'LockLost',
    `The lock of ${sliceName(slice)} ${what}; this run acquires a new one before it goes on`,
  )
}
