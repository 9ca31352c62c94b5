import { promisify } from 'node:util'
import { MASTER } from '../../../local/servers/mysql.ts'
import { openMysqlDoor } from './mysql-door.ts'
import { tokenObstacle } from './token.ts'
import { openValkeyDoor } from './valkey-door.ts'

type Ports = { readonly database: number; readonly lock: number }

export type DoorsOptions = {
  readonly ports: Ports
  /** Of the servers behind. */
  readonly servers: Ports
  readonly key: string
  readonly certificate: string
  readonly lockUser: string
  readonly lockPassword: string
}

export type Doors = {
  readonly ports: Ports
  /** Logins by user, and those refused, with the reason. */
  readonly logins: ReadonlyMap<string, number>
  readonly refused: readonly string[]
  readonly close: () => Promise<void>
}

const APP_PASSWORD = 'test-app-password'
/** What RDS alone has, and what stands for it on the server behind the door. */
const PLUGIN = /identified with AWSAuthenticationPlugin as 'RDS'/gi

/** Opens both doors on loopback. */
export const openDoors = async (options: DoorsOptions): Promise<Doors> => {
  const { ports, servers, key, certificate, lockUser, lockPassword } = options
  const logins = new Map<string, number>()
  const refused: string[] = []
  const judged = (user: string, obstacle: string | undefined, password: string): string | undefined => {
    if (obstacle === undefined) logins.set(user, (logins.get(user) ?? 0) + 1)
    else refused.push(`${user}: ${obstacle}`)
    return obstacle === undefined ? password : undefined
  }
  const mysql = await openMysqlDoor({
    ...{ port: ports.database, serverPort: servers.database, key, certificate },
    isIam: (user) => user !== MASTER.user,
    check: (user, password) => {
      if (user === MASTER.user)
        return judged(user, password === MASTER.password ? undefined : 'wrong password', MASTER.password)
      const host = `localhost:${ports.database}`
      return judged(user, tokenObstacle(password, { host, user, service: 'rds-db' }), APP_PASSWORD)
    },
    rewrite: (statement) => statement.replace(PLUGIN, `identified by '${APP_PASSWORD}'`),
  })
  const valkey = await openValkeyDoor({
    ...{ port: ports.lock, serverPort: servers.lock, key, certificate },
    check: (user, token) =>
      judged(user, tokenObstacle(token, { host: lockUser, user: lockUser, service: 'elasticache' }), lockPassword),
  })
  const close = async () => {
    await Promise.all([mysql, valkey].map((server) => promisify(server.close.bind(server))()))
  }
  return { ports, logins, refused, close }
}
