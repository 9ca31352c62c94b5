import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import {
  freePort,
  killProcess,
  type Program,
  type ServerProcess,
  startProcess,
  stopProcess,
  waitReady,
} from './process.ts'

export type ValkeyOptions = {
  /** More options for the server, e.g. `['--maxmemory', '10mb']`. */
  readonly extra?: readonly string[]
}

const START_TIMEOUT_MS = 20_000
const STOP_GRACE_MS = 5_000
const START_TRIES = 3
const PING_TIMEOUT_MS = 1_000

/** A Valkey server of our own on loopback, without persistence: a restart forgets every lock, as a lost node does. */
export class ValkeyServer {
  readonly host = '127.0.0.1'
  readonly port: number
  readonly logFile: string
  readonly #program: Program
  readonly #folder: string
  readonly #options: ValkeyOptions
  #process: ServerProcess | undefined

  private constructor(program: Program, folder: string, port: number, options: ValkeyOptions) {
    this.#program = program
    this.#folder = folder
    this.port = port
    this.#options = options
    this.logFile = join(folder, 'valkey.log')
  }

  static async start(program: Program, folder: string, options: ValkeyOptions = {}): Promise<ValkeyServer> {
    await mkdir(folder, { recursive: true })
    for (let attempt = 1; ; attempt++) {
      const server = new ValkeyServer(program, folder, await freePort(), options)
      try {
        await server.restart()
        return server
      } catch (error) {
        if (attempt === START_TRIES || !String(error).includes('Address already in use')) throw error
      }
    }
  }

  /** Of the running server, else undefined. */
  get pid(): number | undefined {
    return this.#process?.hasExited() === false ? this.#process.pid : undefined
  }

  /** Starts the server empty; stops it before where it still runs. */
  async restart(): Promise<void> {
    await this.stop()
    const options = [
      ...['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#folder],
      ...['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'],
      ...(this.#options.extra ?? []),
    ]
    const server = startProcess(this.#program, options, this.logFile)
    this.#process = server
    await waitReady('Valkey', server, () => this.#ping(), this.logFile, START_TIMEOUT_MS)
  }

  async #ping(): Promise<void> {
    const client = new Redis({
      host: this.host,
      port: this.port,
      lazyConnect: true,
      connectTimeout: PING_TIMEOUT_MS,
      commandTimeout: PING_TIMEOUT_MS,
      retryStrategy: () => null,
    })
    // Without a listener ioredis prints the failures we are waiting through.
    client.on('error', () => undefined)
    try {
      await client.connect()
      await client.ping()
    } finally {
      client.disconnect()
    }
  }

  async stop(): Promise<void> {
    if (this.#process !== undefined) await stopProcess(this.#process, STOP_GRACE_MS)
  }

  /** kill -9: every lock is gone. */
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
