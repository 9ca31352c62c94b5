import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type { Program } from './process.ts'
import { Server, type ServerKind, startOnFreePort } from './server.ts'

export type ValkeyOptions = {
  /** More options for the server, e.g. `['--maxmemory', '10mb']`. */
  readonly extra?: readonly string[]
  /** By default a free one. */
  readonly port?: number
}

const KIND: ServerKind = { name: 'Valkey', startTimeoutMs: 20_000, stopGraceMs: 5_000 }
const PING_TIMEOUT_MS = 1_000

/** A Valkey server of our own, without persistence: a restart forgets every lock, as a lost node does. */
export class ValkeyServer extends Server {
  readonly #options: ValkeyOptions

  private constructor(program: Program, folder: string, port: number, options: ValkeyOptions) {
    super(KIND, program, folder, port)
    this.#options = options
  }

  static async start(program: Program, folder: string, options: ValkeyOptions = {}): Promise<ValkeyServer> {
    await mkdir(folder, { recursive: true })
    return await startOnFreePort((port) => new ValkeyServer(program, folder, port, options), options.port)
  }

  /** Starts another server of the same kind, which follows nobody yet. */
  async second(): Promise<ValkeyServer> {
    return await ValkeyServer.start(this.program, join(this.folder, 'second'), { extra: this.#options.extra ?? [] })
  }

  protected override options(): string[] {
    return [
      ...['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder],
      ...['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'],
      ...(this.#options.extra ?? []),
    ]
  }

  protected override async ping(): Promise<void> {
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
}
