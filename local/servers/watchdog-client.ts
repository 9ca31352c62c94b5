import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

/**
 * The parent's side of the watchdog (watchdog.ts): one per process, started with the first thing that must not outlive
 * us and ended with the last.
 */
let watchdog: ChildProcess | undefined
const watched = new Set<string>()

const start = (): ChildProcess => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'watchdog.ts')], {
    // Its own process group: a Ctrl-C or a kill of our group must not take it down with us.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  })
  child.unref()
  child.stdin?.on('error', () => undefined)
  // The pipe must not keep our event loop alive. It is a socket, though the type does not say so.
  const pipe = child.stdin as unknown as { unref?: () => void } | null
  pipe?.unref?.()
  return child
}

const tell = (verb: string, value: string): void => {
  watchdog ??= start()
  watchdog.stdin?.write(`${verb} ${value}\n`)
}

const endIfIdle = (): void => {
  if (watched.size > 0) return
  watchdog?.stdin?.end()
  watchdog = undefined
}

/** The process `pid` dies with us. */
export const watchProcess = (pid: number): void => {
  watched.add(String(pid))
  tell('watch', String(pid))
}

/** The process `pid` has ended: its number may soon be somebody else's. */
export const unwatchProcess = (pid: number): void => {
  if (!watched.delete(String(pid))) return
  tell('forget', String(pid))
  endIfIdle()
}

/** The folder is removed if we die before `unwatchFolder`. */
export const watchFolder = (folder: string): void => {
  watched.add(folder)
  tell('folder', folder)
}

export const unwatchFolder = (folder: string): void => {
  if (!watched.delete(folder)) return
  tell('keep', folder)
  endIfIdle()
}
