import { Failure, messageOf } from '../../contract/errors.ts'
import { LOCK_COMMAND_TIMEOUT_MS, LOCK_CONNECT_TIMEOUT_MS } from '../../contract/limits.ts'
import type { LockClient } from './client.ts'

/**
 * Runs one lock script and settles within connect plus command time, whatever the server or the client does.
 *
 * @throws Failure LockUnreachable for every fault of Valkey or the way to it (refused, silent, READONLY, OOM, ...)
 */
export const runScript = async (
  client: LockClient,
  script: string,
  key: string,
  ...args: (string | number)[]
): Promise<unknown> => {
  const limitMs = LOCK_CONNECT_TIMEOUT_MS + LOCK_COMMAND_TIMEOUT_MS
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs)
  const reply = client.eval(script, 1, key, ...args)
  try {
    return await Promise.race([reply, late])
  } catch (error) {
    reply.catch(() => undefined)
    throw new Failure(
      'LockUnreachable',
      `Valkey did not answer for ${key}: ${messageOf(error)}. Check that it runs, has memory, and is reachable on its port and TLS setting.`,
      { cause: error },
    )
  } finally {
    clearTimeout(timer)
  }
}
