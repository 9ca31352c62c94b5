import { createConnection } from 'mysql2/promise'
import type { DatabaseAddress } from '../../functions/store/mysql/connection.ts'
import { type Address, type Environment, findMysql, findValkey } from './find.ts'
import { MASTER, type MysqlOptions, MysqlServer } from './mysql.ts'
import { type ValkeyOptions, ValkeyServer } from './valkey.ts'

type Account = { readonly user: string; readonly password: string }

/** The database of a stack; the migrations create it. `server` is there when the stack started it, and may be killed, frozen and restarted. */
export type LocalDatabase = Address & {
  readonly name: string
  readonly master: Account
  readonly app: Account
  /** As the migrations take it. */
  readonly masterAddress: DatabaseAddress
  readonly appAddress: DatabaseAddress
  readonly server: MysqlServer | undefined
  readonly stop: () => Promise<void>
}

export type LockServer = Address & {
  readonly server: ValkeyServer | undefined
  readonly stop: () => Promise<void>
}

/** The functions' user; created after the migrations. */
const APP: Account = { user: 'sharelock_app', password: 'local-app-password' }

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/

/** Functions speak to these servers without TLS, which their own checks allow on loopback only. */
const onLoopback = (address: Address, variable: string): Address => {
  if (LOOPBACK.test(address.host)) return address
  throw new Error(`${variable} must be an address of this machine (127.0.0.1:port) and is ${address.host}`)
}

const dropDatabase = async (address: Address, master: Account, name: string): Promise<void> => {
  const connection = await createConnection({ host: address.host, port: address.port, ...master })
  await connection.query('drop database if exists ??', [name])
  await connection.end()
}

/**
 * MySQL for one stack: a server of its own, or a database of its own on the server whose address is given.
 *
 * @param keeping its data outlive it, and whether there are any
 */
export const openDatabase = async (
  env: Environment,
  folder: string,
  id: string,
  options: MysqlOptions,
  say: (line: string) => void,
  keeping?: { readonly isOld: boolean },
): Promise<LocalDatabase> => {
  const found = await findMysql(env, say)
  const server = 'program' in found ? await MysqlServer.start(found.program, folder, options) : undefined
  const address = 'address' in found ? onLoopback(found.address, 'SHARELOCK_MYSQL') : (server as MysqlServer)
  const { host, port } = address
  const given = { user: env.SHARELOCK_MYSQL_USER ?? 'root', password: env.SHARELOCK_MYSQL_PASSWORD ?? '' }
  const master = server === undefined ? given : MASTER
  // On a shared server two stacks must not meet.
  const name = server === undefined ? `sharelock_${id.replace(/\W/g, '_')}` : 'sharelock'
  const addressOf = ({ user, password }: Account): DatabaseAddress => ({
    DATABASE_HOST: host,
    DATABASE_PORT: port,
    DATABASE_NAME: name,
    DATABASE_USER: user,
    DATABASE_PASSWORD: password,
    DATABASE_AUTH: 'password',
    DATABASE_TLS: 'off',
    AWS_REGION: 'ap-northeast-2',
  })
  if (server === undefined && keeping?.isOld === false) await dropDatabase({ host, port }, master, name)
  return {
    ...{ host, port, name, master, app: APP, server },
    masterAddress: addressOf(master),
    appAddress: addressOf(APP),
    stop: async () => {
      if (keeping !== undefined) await server?.stop()
      // The data of our own server are thrown away with its folder, so it need not shut down cleanly.
      else if (server !== undefined) await server.kill()
      else await dropDatabase({ host, port }, master, name)
    },
  }
}

/** Valkey for one stack: a server of its own, or the one whose address is given (its keys are shared then). */
export const openLockServer = async (
  env: Environment,
  folder: string,
  options: ValkeyOptions,
  say: (line: string) => void,
): Promise<LockServer> => {
  const found = await findValkey(env, say)
  if ('address' in found) {
    const { host, port } = onLoopback(found.address, 'SHARELOCK_VALKEY')
    return { host, port, server: undefined, stop: async () => undefined }
  }
  const server = await ValkeyServer.start(found.program, folder, options)
  return { host: server.host, port: server.port, server, stop: () => server.kill() }
}
