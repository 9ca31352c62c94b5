import { existsSync } from 'node:fs'
import { link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from './alive.ts'

const POLL_MS = 100

/** No build takes this long: the holder's number is somebody else's by now. */
const LOCK_AGE_MAX_MS = 900_000

const isHeldByTheLiving = async (lock: string): Promise<boolean> => {
  try {
    const { mtimeMs } = await stat(lock)
    return Date.now() - mtimeMs < LOCK_AGE_MAX_MS && isAlive(Number(await readFile(lock, 'utf8')))
  } catch {
    return false
  }
}

/** What builders left behind that were killed: folders `<name>.lock.<pid>.<random>.building`. */
const removeRuins = async (lock: string): Promise<void> => {
  for (const name of await readdir(dirname(lock))) {
    const [pid = '', , kind] = name.startsWith(`${basename(lock)}.`)
      ? name.slice(basename(lock).length + 1).split('.')
      : []
    if (pid !== '' && kind === 'building' && !isAlive(Number(pid)))
      await rm(join(dirname(lock), name), { recursive: true, force: true })
  }
}

/** Linking a file that already holds the pid makes lock and content appear in one step. */
const tryLock = async (lock: string, own: string): Promise<boolean> =>
  link(own, lock).then(
    () => true,
    () => false,
  )

/**
 * Builds `directory` once, over all processes of the machine, and returns it.
 * The build works in a temporary folder that is renamed at the end: a folder that exists is complete, and a build that
 * was killed leaves nothing behind that is taken for one. The lock only saves a second process the same work; if it is
 * broken wrongly, two builds race and the first rename wins.
 */
export const buildOnce = async (directory: string, build: (temporary: string) => Promise<void>): Promise<string> => {
  if (existsSync(directory)) return directory
  await mkdir(dirname(directory), { recursive: true })
  const lock = `${directory}.lock`
  const own = `${lock}.${process.pid}.${Math.random().toString(36).slice(2)}`
  const temporary = `${own}.building`
  await writeFile(own, String(process.pid))
  let locked = false
  try {
    for (;;) {
      locked = await tryLock(lock, own)
      if (locked || existsSync(directory)) break
      if (await isHeldByTheLiving(lock)) await sleep(POLL_MS)
      else await rm(lock, { force: true })
    }
    if (existsSync(directory)) return directory
    await removeRuins(lock)
    await mkdir(temporary, { recursive: true })
    await build(temporary)
    await rename(temporary, directory).catch((error: NodeJS.ErrnoException) => {
      if (!existsSync(directory)) throw error
    })
    return directory
  } finally {
    await rm(temporary, { recursive: true, force: true })
    await rm(own, { force: true })
    if (locked) await rm(lock, { force: true })
  }
}
