import { setTimeout as pause } from 'node:timers/promises'
import { LOCK_LOGIN_PAUSE_MS } from '../../contract/limits.ts'
import { isAnswer, isLoginRefused } from './answers.ts'

/** Asks again where the login was refused, once the client has left that connection; it signs a new password by then. */
export const withNewLogin = async (ask: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await ask()
  } catch (refusal) {
    if (!isLoginRefused(refusal)) throw refusal
    await pause(LOCK_LOGIN_PAUSE_MS)
    return await ask().catch((error: unknown) => {
      // A connection that ends in between says less than the refusal before it.
      throw isAnswer(error) ? error : refusal
    })
  }
}
