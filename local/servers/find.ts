import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type DebianPrefix, debianObstacle, debianPrefix, systemName } from './debian.ts'
import { programOnPath } from './on-path.ts'
import type { Program } from './process.ts'

const run = promisify(execFile)

/**
 * Servers are looked for in this order:
 *
 * 1. Addresses in the environment, for servers that run already (`docker compose up` prints nothing else to set):
 *    SHARELOCK_MYSQL=host:port with SHARELOCK_MYSQL_USER and SHARELOCK_MYSQL_PASSWORD (a user that may create users and
 *    databases; default root without a password), and SHARELOCK_VALKEY=host:port.
 * 2. Programs on PATH: mysqld (real MySQL, 8.4 or later), valkey-server or redis-server.
 * 3. On Debian-like systems, packages unpacked under .local/debian.
 */
export type Address = { readonly host: string; readonly port: number }
export type Found = { readonly address: Address } | { readonly program: Program }
export type Environment = Readonly<Record<string, string | undefined>>

const MYSQL_MIN = [8, 4] as const
const VERSION_TIMEOUT_MS = 10_000

/** Reads `host:port` out of a variable, or says what is wrong with it. */
export const addressFrom = (env: Environment, variable: string): Address | undefined => {
  const text = env[variable]
  if (text === undefined || text === '') return undefined
  const match = /^(.+):(\d{1,5})$/.exec(text)
  if (match?.[1] === undefined) throw new Error(`${variable} must be host:port and is ${JSON.stringify(text)}`)
  return { host: match[1].replace(/^\[(.*)\]$/, '$1'), port: Number(match[2]) }
}

/** Why a mysqld will not do, from its own `--version`; undefined where it will. */
export const mysqlObstacle = (version: string): string | undefined => {
  const match = /Ver (\d+)\.(\d+)/.exec(version)
  if (/mariadb/i.test(version) || match === null) return 'it is not MySQL'
  const [major, minor] = [Number(match[1]), Number(match[2])]
  const isOld = major < MYSQL_MIN[0] || (major === MYSQL_MIN[0] && minor < MYSQL_MIN[1])
  return isOld ? `it is MySQL ${major}.${minor}, older than ${MYSQL_MIN.join('.')}` : undefined
}

const mysqlOnPath = async (notes: string[]): Promise<Program | undefined> => {
  const command = programOnPath('mysqld')
  if (command === undefined) {
    notes.push('no mysqld on PATH')
    return undefined
  }
  const { stdout } = await run(command, ['--version'], { timeout: VERSION_TIMEOUT_MS }).catch(() => ({ stdout: '' }))
  const obstacle = mysqlObstacle(stdout)
  if (obstacle === undefined) return { command, before: [], after: [], origin: command }
  notes.push(`${command} will not do: ${obstacle}`)
  return undefined
}

const valkeyOnPath = async (notes: string[]): Promise<Program | undefined> => {
  const command = programOnPath('valkey-server') ?? programOnPath('redis-server')
  if (command !== undefined) return { command, before: [], after: [], origin: command }
  notes.push('no valkey-server or redis-server on PATH')
  return undefined
}

/** The program is compiled for /usr; these options tell it where its files really are. */
const mysqlOfDebian = ({ prefix, loader, libraries }: DebianPrefix): Program => ({
  command: loader,
  before: ['--library-path', libraries, join(prefix, 'usr/sbin/mysqld')],
  after: [
    `--basedir=${join(prefix, 'usr')}`,
    `--lc-messages-dir=${join(prefix, 'usr/share/mysql')}`,
    `--character-sets-dir=${join(prefix, 'usr/share/mysql/charsets')}`,
    `--plugin-dir=${join(prefix, 'usr/lib/mysql/plugin')}`,
  ],
  origin: prefix,
})

const valkeyOfDebian = ({ prefix, loader, libraries }: DebianPrefix): Program => ({
  command: loader,
  before: ['--library-path', libraries, join(prefix, 'usr/bin/valkey-server')],
  after: [],
  origin: prefix,
})

const find = async (
  address: Address | undefined,
  onPath: (notes: string[]) => Promise<Program | undefined>,
  ofDebian: (prefix: DebianPrefix) => Program,
  name: string,
  say: (line: string) => void,
): Promise<Found> => {
  if (address !== undefined) return { address }
  const notes: string[] = []
  const program = await onPath(notes)
  if (program !== undefined) return { program }
  const obstacle = await debianObstacle()
  if (obstacle === undefined) return { program: ofDebian(await debianPrefix(say)) }
  throw new Error(
    `${name} is not to be found: ${notes.join('; ')}; packages cannot be unpacked on ${await systemName()}, as ${obstacle}. ` +
      'Start the servers with `docker compose up -d --wait` and set ' +
      'SHARELOCK_MYSQL=127.0.0.1:3306 SHARELOCK_VALKEY=127.0.0.1:6379.',
  )
}

export const findMysql = (env: Environment, say: (line: string) => void): Promise<Found> =>
  find(addressFrom(env, 'SHARELOCK_MYSQL'), mysqlOnPath, mysqlOfDebian, 'MySQL', say)

export const findValkey = (env: Environment, say: (line: string) => void): Promise<Found> =>
  find(addressFrom(env, 'SHARELOCK_VALKEY'), valkeyOnPath, valkeyOfDebian, 'Valkey', say)
