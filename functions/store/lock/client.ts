import { Redis } from 'ioredis'
import type { Env } from '../../contract/env.ts'
import { LOCK_COMMAND_TIMEOUT_MS, LOCK_CONNECT_TIMEOUT_MS } from '../../contract/limits.ts'
import { isLoginRefused } from './answers.ts'
import { elasticachePassword } from './iam-password.ts'

/** The only Valkey command the lock uses; a client with nothing else can't do anything else. */
export type LockClient = {
  eval(script: string, keys: number, key: string, ...args: (string | number)[]): Promise<unknown>
  /** The login that was refused last, while the client has found no other way in. */
  readonly refusal?: () => unknown
  /** What the client writes in front of every key; the stage's own. */
  readonly prefix?: string
}

export type LockAddress = Pick<
  Env,
  'LOCK_HOST' | 'LOCK_PORT' | 'LOCK_USER' | 'LOCK_AUTH' | 'LOCK_GROUP_ID' | 'LOCK_TLS' | 'LOCK_PREFIX' | 'AWS_REGION'
>

/**
 * Connects to Valkey so that every call settles: a connect, a command and a silent socket each have their own timeout,
 * and commands are not queued while there is no connection. A lost command is not resent by the client: the scripts
 * are repeatable, and the caller decides.
 *
 * With IAM, each (re)connect needs a fresh password (each lives 15 minutes, a connection 12 hours). ioredis reads
 * `options.password` when it connects, so a property on the options object gives it the newest one.
 */
export const openLockClient = async (address: LockAddress): Promise<Redis & LockClient> => {
  const client = new Redis({
    host: address.LOCK_HOST,
    port: address.LOCK_PORT,
    keyPrefix: address.LOCK_PREFIX,
    lazyConnect: true,
    connectTimeout: LOCK_CONNECT_TIMEOUT_MS,
    commandTimeout: LOCK_COMMAND_TIMEOUT_MS,
    socketTimeout: LOCK_COMMAND_TIMEOUT_MS * 2,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // INFO on connect would wait for a server that accepts and stays silent.
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: (times) => Math.min(100 * times, 1_000),
    // After a failover the surviving socket leads to a replica, and a login may end under a connection: the command
    // fails, the next one finds a new connection.
    reconnectOnError: (error) => (/^(READONLY|NOAUTH|WRONGPASS)/.test(error.message) ? 1 : false),
    ...(address.LOCK_USER === '' ? {} : { username: address.LOCK_USER }),
    ...(address.LOCK_TLS === 'verify' ? { tls: { minVersion: 'TLSv1.2' as const } } : {}),
  })
  // A command that meets the moment between a refused login and the next is only told that the connection closed.
  let refusal: unknown
  // Without a listener an unreachable Valkey would end the process; the next command reports it.
  client.on('error', (error) => {
    refusal = isLoginRefused(error) ? error : undefined
  })
  client.on('ready', () => {
    refusal = undefined
  })
  if (address.LOCK_AUTH === 'iam') {
    const sign = () => elasticachePassword(address.AWS_REGION, address.LOCK_GROUP_ID, address.LOCK_USER)
    let password = await sign()
    Object.defineProperty(client.options, 'password', { get: () => password })
    client.on('close', () => {
      sign().then(
        (signed) => {
          password = signed
        },
        () => undefined,
      )
    })
  }
  return Object.assign(client, { refusal: () => refusal, prefix: address.LOCK_PREFIX })
}
