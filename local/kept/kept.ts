import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { clearLockedPorts } from 'get-port'
import { isAlive } from '../host/alive.ts'
import { ROOT } from '../host/paths.ts'
import { freePort } from '../servers/process.ts'

const SERVERS = ['mysql', 'valkey', 'aws', 'stepFunctions', 'lambda'] as const

/** The loopback port of each server of a stack. */
type Ports = Readonly<Record<(typeof SERVERS)[number], number>>

/** A stack whose data and ports outlive it. */
export type Kept = {
  readonly folder: string
  readonly ports: Ports
  /** Whether it has data of an earlier start. */
  readonly isOld: boolean
}

const MIGRATIONS = join(ROOT, 'functions', 'store', 'schema', 'migrations')

/** Tells one schema from another: data of another one would be taken for this one's. */
const schemaOf = async (): Promise<string> => {
  const hash = createHash('sha256')
  for (const name of (await readdir(MIGRATIONS)).sort())
    hash.update(name).update(await readFile(join(MIGRATIONS, name)))
  return hash.digest('hex')
}

const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')

/** Two stacks on the same data would be each other's ruin. */
const refuseSecond = async (path: string): Promise<void> => {
  const pid = Number(await read(path))
  if (pid > 0 && pid !== process.pid && isAlive(pid))
    throw new Error(`The local stack runs already, as process ${pid}. Use it, or stop it first: kill ${pid}`)
}

/**
 * The ports of the last start, as far as they are free. Chosen one after the other: two searches at a time could find the
 * same.
 */
const choosePorts = async (path: string, say: (line: string) => void): Promise<Ports> => {
  const before = JSON.parse((await read(path)) || '{}') as Partial<Ports>
  const ports: Partial<Record<keyof Ports, number>> = {}
  // What this process took a moment ago, for a stack that has stopped since, may be taken again.
  clearLockedPorts()
  for (const server of SERVERS) {
    const wished = before[server]
    ports[server] = await freePort(wished)
    if (wished !== undefined && ports[server] !== wished)
      say(`Port ${wished} is taken by another program; ${server} is at ${ports[server]} from now on.`)
  }
  await writeFile(path, JSON.stringify(ports))
  return ports as Ports
}

/**
 * Opens the place of a kept stack for this process.
 *
 * @param isFresh throws away what is there
 */
export const openKept = async (folder: string, isFresh: boolean, say: (line: string) => void): Promise<Kept> => {
  const file = { holder: join(folder, 'pid'), schema: join(folder, 'schema'), ports: join(folder, 'ports.json') }
  await refuseSecond(file.holder)
  const data = join(folder, 'data')
  if (isFresh) await rm(data, { recursive: true, force: true })
  const schema = await schemaOf()
  const isOld = existsSync(data)
  if (isOld && (await read(file.schema)) !== schema)
    throw new Error('The kept data have another schema than this checkout. Begin anew: npm run local -- --fresh')
  await mkdir(data, { recursive: true })
  await writeFile(file.holder, String(process.pid))
  await writeFile(file.schema, schema)
  return { folder: data, ports: await choosePorts(file.ports, say), isOld }
}
