import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 100

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it lives, but is somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const isHeldByTheLiving = async (lock: string): Promise<boolean> => {
  const holder = await readFile(lock, 'utf8').catch(() => undefined)
  return holder !== undefined && isAlive(Number(holder))
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
 * was killed leaves nothing behind that is taken for one. The lock merely saves a second process the same work; if it is
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
