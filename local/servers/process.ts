import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import getPort, { portNumbers } from 'get-port'
import { unwatchProcess, watchProcess } from './watchdog-client.ts'

/** How a server is started: its options come between what the way it was found puts before and after them. */
export type Program = {
  readonly command: string
  readonly before: readonly string[]
  readonly after: readonly string[]
  /** Where it was found, for people. */
  readonly origin: string
}

export type ServerProcess = {
  readonly pid: number
  readonly child: ChildProcess
  readonly exited: Promise<void>
  readonly hasExited: () => boolean
}

/** Starts a server that dies with us and writes to `logFile`. */
export const startProcess = (program: Program, options: readonly string[], logFile: string): ServerProcess => {
  mkdirSync(dirname(logFile), { recursive: true })
  const log = openSync(logFile, 'a')
  const child = spawn(program.command, [...program.before, ...options, ...program.after], {
    stdio: ['ignore', log, log],
    // Out of the terminal's group: on Ctrl-C we stop servers in order, they do not stop by themselves.
    detached: true,
  })
  closeSync(log)
  const pid = child.pid
  if (pid === undefined) throw new Error(`${program.command} (${program.origin}) does not start; see ${logFile}`)
  watchProcess(pid)
  let over = false
  const exited = new Promise<void>((resolve) => {
    const end = () => {
      over = true
      unwatchProcess(pid)
      resolve()
    }
    child.once('exit', end)
    child.once('error', end)
  })
  return { pid, child, exited, hasExited: () => over }
}

/** Asks the process to end, and makes it end when it takes longer than `graceMs`. */
export const stopProcess = async (server: ServerProcess, graceMs: number): Promise<void> => {
  if (server.hasExited()) return
  // A frozen process handles no SIGTERM.
  server.child.kill('SIGCONT')
  server.child.kill('SIGTERM')
  const timer = setTimeout(() => server.child.kill('SIGKILL'), graceMs)
  await server.exited
  clearTimeout(timer)
}

export const killProcess = async (server: ServerProcess): Promise<void> => {
  if (server.hasExited()) return
  server.child.kill('SIGKILL')
  await server.exited
}

const PORT_FROM = 20_000
const PORT_TO = 32_000

/**
 * The wished loopback port if it is free, else one below the range the kernel takes for outgoing connections: otherwise a client could get the port
 * of a server that is down for a moment, and the server could not come back.
 */
export const freePort = async (wished?: number): Promise<number> => {
  // Two processes that look at the same moment begin at different places.
  const from = PORT_FROM + Math.floor(Math.random() * (PORT_TO - PORT_FROM))
  const port = [
    ...(wished === undefined ? [] : [wished]),
    ...portNumbers(from, PORT_TO),
    ...portNumbers(PORT_FROM, from),
  ]
  return await getPort({ host: '127.0.0.1', port })
}

const READY_POLL_MS = 40
const LOG_TAIL_CHARS = 2_000

/** Waits until `probe` succeeds; fails with the end of the log when the server ends first or takes too long. */
export const waitReady = async (
  name: string,
  server: ServerProcess,
  probe: () => Promise<void>,
  logFile: string,
  timeoutMs: number,
): Promise<void> => {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const failure = await probe().then(
      () => undefined,
      (error: unknown) => error,
    )
    if (failure === undefined) return
    if (server.hasExited() || Date.now() > deadline) {
      const what = server.hasExited() ? 'ended while starting' : `is not ready after ${timeoutMs} ms`
      const tail = readFileSync(logFile, 'utf8').slice(-LOG_TAIL_CHARS)
      await killProcess(server)
      throw new Error(`${name} ${what}. The end of ${logFile}:\n${tail}`, { cause: failure })
    }
    await sleep(READY_POLL_MS)
  }
}
