import { Redis } from 'ioredis'
import type { TestSlice, TestStack } from './test-stack.ts'

/** One command that changed a lock, as Valkey itself reports it. */
export type LockFact = {
  /** Seconds since 1970, to the microsecond. */
  readonly at: number
  readonly kind: 'set' | 'del' | 'expire'
  /** The port that the command came from, on Valkey's side. */
  readonly port: number
  readonly token: string
  readonly ttlMs: number
  /** The key held a token, before it. */
  readonly holder: string | undefined
}

type Held = { readonly token: string; readonly until: number }

/** Reads MONITOR of a Valkey: every command of every client, those inside of scripts included. */
export class LockWatch {
  readonly #on: TestStack
  readonly #client: Redis
  readonly #facts = new Map<string, LockFact[]>()
  readonly #held = new Map<string, Held>()
  #port = 0

  private constructor(on: TestStack) {
    this.#on = on
    const { host, port } = on.stack.lock
    this.#client = new Redis({ host, port, monitor: true, retryStrategy: () => 50, maxRetriesPerRequest: null })
    this.#client.on('error', () => undefined)
    // A server that starts again has forgotten every lock.
    this.#client.on('close', () => this.#held.clear())
    this.#client.on('monitor', (time: string, [command = '', ...args]: string[], source: string) => {
      // Commands of a script follow its EVAL at once; only that line says where they came from.
      if (source !== 'lua') this.#port = Number(source.slice(source.lastIndexOf(':') + 1))
      this.#note(Number(time), command.toLowerCase(), args)
    })
  }

  static async start(on: TestStack): Promise<LockWatch> {
    const watch = new LockWatch(on)
    await new Promise<void>((resolve) => watch.#client.once('monitoring', resolve))
    return watch
  }

  factsOf(slice: TestSlice): readonly LockFact[] {
    return this.#facts.get(this.#on.lockKey(slice)) ?? []
  }

  #note(at: number, command: string, args: string[]): void {
    if (command === 'flushall') this.#held.clear()
    const [key = '', second = ''] = args
    if (!key.endsWith(':lock')) return
    const before = this.#held.get(key)
    const holder = before !== undefined && before.until > at ? before.token : undefined
    if (command === 'set') {
      const options = args.map((one) => one.toLowerCase())
      const ttlMs = options.includes('px') ? Number(options[options.indexOf('px') + 1]) : Number.POSITIVE_INFINITY
      if (holder !== undefined && options.includes('nx')) return
      this.#held.set(key, { token: second, until: at + ttlMs / 1_000 })
      this.#add(key, { at, kind: 'set', port: this.#port, token: second, ttlMs, holder })
    } else if (command === 'del' || command === 'unlink') {
      this.#held.delete(key)
      if (holder !== undefined) this.#add(key, { at, kind: 'del', port: this.#port, token: holder, ttlMs: 0, holder })
    } else if (command === 'pexpire' && holder !== undefined) {
      this.#held.set(key, { token: holder, until: at + Number(second) / 1_000 })
      this.#add(key, { at, kind: 'expire', port: this.#port, token: holder, ttlMs: Number(second), holder })
    }
  }

  #add(key: string, fact: LockFact): void {
    this.#facts.set(key, [...(this.#facts.get(key) ?? []), fact])
  }

  stop(): void {
    this.#client.disconnect()
  }
}
