/** What is used of redlock 4.2, which brings no types. */
declare module 'redlock' {
  import type { Redis } from 'ioredis'

  export type RedlockLock = { extend(ttlMs: number): Promise<RedlockLock>; unlock(): Promise<void> }

  export default class Redlock {
    constructor(
      clients: Redis[],
      options?: { retryCount?: number; retryDelay?: number; retryJitter?: number; driftFactor?: number },
    )
    /** Waits for the lock, `retryCount` times at most; -1 is for ever. */
    lock(resource: string, ttlMs: number): Promise<RedlockLock>
  }
}
