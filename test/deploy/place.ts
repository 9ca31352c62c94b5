import { readFileSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { accessString } from '../../infra/config/lock-access.ts'
import { RUNS } from '../../local/host/paths.ts'
import { MASTER } from '../../local/servers/mysql.ts'
import { freePort } from '../../local/servers/process.ts'
import { type LocalDatabase, type LockServer, openDatabase, openLockServer } from '../../local/servers/stores.ts'
import { unwatchFolder, watchFolder } from '../../local/servers/watchdog-client.ts'
import { type Doors, openDoors } from './doors/doors.ts'
import { type Emulator, makeCertificates, startEmulator } from './emulator/emulator.ts'
import { installEmulator } from './emulator/install.ts'

export const STAGE = 'staging'
export const ACCOUNT = '222222222222'
export const REGION = 'ap-northeast-2'

/** Everything a run has: an emulated account, and real stores behind doors like RDS's and ElastiCache's. */
export type Place = {
  readonly folder: string
  readonly emulator: Emulator
  readonly database: LocalDatabase
  readonly lock: LockServer
  readonly doors: Doors
  /** What a client of this account sets: the CDK's command as well as the SDK's clients. */
  readonly environment: Readonly<Record<string, string>>
  /** Locks as the functions' user sees them. */
  readonly valkey: Redis
  readonly close: () => Promise<void>
}

const LOCK_PASSWORD = 'test-lock-password'

/** Starts it; on a failure what was started stops again. */
export const openPlace = async (say: (line: string) => void): Promise<Place> => {
  const closes: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const one of closes.splice(0).reverse()) await one()
  }
  try {
    return { ...(await open(say, closes)), close }
  } catch (error) {
    await close()
    throw error
  }
}

const open = async (say: (line: string) => void, closes: (() => Promise<unknown>)[]): Promise<Omit<Place, 'close'>> => {
  const id = `${Date.now().toString(36)}-${process.pid}-deploy`
  const folder = join(RUNS, id)
  await mkdir(folder, { recursive: true })
  watchFolder(folder)
  closes.push(async () => {
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    unwatchFolder(folder)
  })
  const python = await installEmulator(say)
  const certificates = await makeCertificates(python, join(folder, 'tls'))
  // Servers of its own: the migrator makes schema and users by their real names.
  const database = await openDatabase({}, join(folder, 'mysql'), id, { bufferPool: '256M', redoLog: '256M' }, say)
  closes.push(database.stop)
  const user = `sharelock-${STAGE}`
  const lock = await openLockServer({}, join(folder, 'valkey'), {}, say)
  closes.push(lock.stop)
  const valkey = new Redis({ host: lock.host, port: lock.port })
  closes.push(async () => valkey.disconnect())
  await valkey.acl('SETUSER', user, ...accessString(STAGE).split(' '), `>${LOCK_PASSWORD}`)
  const doors = await openDoors({
    ports: { database: await freePort(), lock: await freePort() },
    servers: { database: database.port, lock: lock.port },
    key: readFileSync(certificates.key, 'utf8'),
    certificate: readFileSync(certificates.certificate, 'utf8'),
    lockUser: user,
    lockPassword: LOCK_PASSWORD,
  })
  closes.push(doors.close)
  const emulator = await startEmulator({
    ...{ python, folder, region: REGION, certificates },
    databasePort: doors.ports.database,
    masterPassword: MASTER.password,
    lockPort: doors.ports.lock,
  })
  closes.push(emulator.stop)
  return {
    folder,
    emulator,
    database,
    lock,
    doors,
    valkey,
    environment: clientOf(emulator, certificates.authority, folder),
  }
}

const clientOf = ({ url }: Emulator, authority: string, folder: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: folder,
  AWS_ENDPOINT_URL: url,
  AWS_ENDPOINT_URL_S3: url,
  // The emulator takes an account's number for its root's key.
  AWS_ACCESS_KEY_ID: ACCOUNT,
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: REGION,
  AWS_DEFAULT_REGION: REGION,
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CA_BUNDLE: authority,
  NODE_EXTRA_CA_CERTS: authority,
  CDK_DISABLE_CLI_TELEMETRY: 'true',
})
