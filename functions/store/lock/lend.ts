import type { Redis } from 'ioredis'
import type { IdlePool } from '../invocation/idle-pool.ts'
import type { Invocation } from '../invocation/invocation.ts'
import type { LockClient } from './client.ts'

/** A client with a connection of its own. */
export type OpenLockClient = Redis & LockClient

/**
 * The lock's client as one invocation has it: commands end with its time, and after its end none is sent. A client with a
 * command under way is disconnected then, so that a late `extend` or `release` does not reach Valkey; an idle one is kept.
 *
 * @returns opens it at first use
 */
export const lendLock = (
  open: () => Promise<OpenLockClient>,
  idle: IdlePool<OpenLockClient>,
  invocation: Invocation,
): (() => Promise<LockClient>) => {
  let opened: Promise<OpenLockClient> | undefined
  let underWay = 0
  invocation.atEnd(() => {
    const isBusy = underWay > 0
    opened?.then(
      (client) => (isBusy ? client.disconnect() : idle.give(client)),
      () => undefined,
    )
  })
  return async () => {
    invocation.check('Valkey')
    const taken = opened === undefined ? idle.take() : undefined
    opened ??= taken === undefined ? open() : Promise.resolve(taken)
    const client = await opened
    return {
      refusal: () => client.refusal?.(),
      ...(client.prefix === undefined ? {} : { prefix: client.prefix }),
      eval: async (...command) => {
        // Until the client has its answer, or gave it up: a command that is no longer waited for is under way all the same.
        const ask = async (): Promise<unknown> => {
          underWay += 1
          return await client.eval(...command).finally(() => {
            underWay -= 1
          })
        }
        // The command has a limit of its own, in the client and in runScript.
        return await invocation.within('Valkey', ask, Number.POSITIVE_INFINITY, Error)
      },
    }
  }
}
