import { join } from 'node:path'
import {
  freePort,
  killProcess,
  type Program,
  type ServerProcess,
  startProcess,
  stopProcess,
  waitReady,
} from './process.ts'

/** What tells one kind of server from another. */
export type ServerKind = {
  /** For people, and for the log's name. */
  readonly name: string
  readonly startTimeoutMs: number
  readonly stopGraceMs: number
}

const START_TRIES = 3

/**
 * A server of our own on loopback: an ordinary process with its files in one folder, which may be stopped, killed, frozen
 * and started again on the same port.
 */
export abstract class Server {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly logFile: string
  protected readonly folder: string
  protected readonly program: Program
  readonly #kind: ServerKind
  #process: ServerProcess | undefined

  protected constructor(kind: ServerKind, program: Program, folder: string, port: number) {
    this.#kind = kind
    this.program = program
    this.folder = folder
    this.port = port
    this.logFile = join(folder, `${kind.name.toLowerCase()}.log`)
  }

  /** The program's options. */
  protected abstract options(): string[]

  /** Succeeds once the server answers. */
  protected abstract ping(): Promise<void>

  /** Of the running server, else undefined. */
  get pid(): number | undefined {
    return this.#process?.hasExited() === false ? this.#process.pid : undefined
  }

  /** Starts the server in its folder, and stops it before where it still runs. */
  async restart(): Promise<void> {
    await this.stop()
    const server = startProcess(this.program, this.options(), this.logFile)
    this.#process = server
    await waitReady(this.#kind.name, server, () => this.ping(), this.logFile, this.#kind.startTimeoutMs)
  }

  /** A clean shutdown. */
  async stop(): Promise<void> {
    if (this.#process !== undefined) await stopProcess(this.#process, this.#kind.stopGraceMs)
  }

  /** kill -9, as when the host dies. */
  async kill(): Promise<void> {
    if (this.#process !== undefined) await killProcess(this.#process)
  }

  /** Freezes the server: connections stay open and nothing answers. */
  freeze(): void {
    this.#process?.child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#process?.child.kill('SIGCONT')
  }
}

/** Starts a server on a free port, or on the given one. */
export const startOnFreePort = async <T extends Server>(create: (port: number) => T, given?: number): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    const server = create(given ?? (await freePort()))
    try {
      await server.restart()
      return server
    } catch (error) {
      // Somebody else may have taken the port between our look and the server's bind.
      if (attempt === START_TRIES || !String(error).includes('Address already in use')) throw error
    }
  }
}
