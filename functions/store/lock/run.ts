import { isFailure } from '../../contract/failures.ts'
import { LOCK_COMMAND_TIMEOUT_MS, LOCK_CONNECT_TIMEOUT_MS } from '../../contract/limits.ts'
import { isAnswer, lockFailure } from './answers.ts'
import type { LockClient } from './client.ts'
import { withNewLogin } from './login.ts'

/**
 * Runs one lock script and settles within connect plus command time, whatever the server or the client does. A refused
 * login is tried once more: the client connects anew with a new token, for the old one may only have aged.
 * See decisions.md, "A replica is not asked about locks".
 *
 * @throws Failure LockUnreachable where nobody answers, or a replica does; LockRefused; LockMisconfigured; OutOfTime
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
  const reply = withNewLogin(() => client.eval(script, 1, key, ...args))
  try {
    return await Promise.race([reply, late])
  } catch (error) {
    reply.catch(() => undefined)
    // The time of the task itself was up.
    if (isFailure(error)) throw error
    throw lockFailure(isAnswer(error) ? error : (client.refusal?.() ?? error), `${client.prefix ?? ''}${key}`)
  } finally {
    clearTimeout(timer)
  }
}
