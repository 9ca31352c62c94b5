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
type Address = { readonly host: string; readonly port: number }

/** A line of MONITOR, and the port that it came from. */
type Command = {
  readonly at: number
  readonly command: string
  readonly args: readonly string[]
  readonly from: number
}

const setOptions = (args: readonly string[]): { ttlMs: number; isNew: boolean } => {
  const options = args.map((one) => one.toLowerCase())
  const ttlMs = options.includes('px') ? Number(options[options.indexOf('px') + 1]) : Number.POSITIVE_INFINITY
  return { ttlMs, isNew: options.includes('nx') }
}

/** Reads MONITOR of a Valkey: every command of every client, those inside of scripts included. */
export class LockWatch {
  readonly #on: TestStack
  readonly #clients: Redis[] = []
  readonly #facts = new Map<string, LockFact[]>()
  /** What the stack's own server holds. */
  readonly #held = new Map<string, Held>()

  private constructor(on: TestStack) {
    this.#on = on
  }

  static async start(on: TestStack): Promise<LockWatch> {
    const watch = new LockWatch(on)
    await watch.#read(on.stack.lock, watch.#held)
    return watch
  }

  /** Reads another server as well, which knows locks already. The answer ends it. */
  async follow(address: Address): Promise<() => void> {
    const held = new Map<string, Held>()
    await this.#ask(address, held)
    const client = await this.#read(address, held)
    return () => client.disconnect()
  }

  /** Asks the stack's own server what it holds, where that came by replication and not by commands. */
  async refresh(): Promise<void> {
    await this.#ask(this.#on.stack.lock, this.#held)
  }

  async #ask({ host, port }: Address, held: Map<string, Held>): Promise<void> {
    const asking = new Redis({ host, port })
    held.clear()
    for (const key of await asking.keys('*:lock')) {
      const until = Date.now() / 1_000 + (await asking.pttl(key)) / 1_000
      held.set(key, { token: (await asking.get(key)) ?? '', until })
    }
    asking.disconnect()
  }

  factsOf(slice: TestSlice): readonly LockFact[] {
    return this.#facts.get(this.#on.lockKey(slice)) ?? []
  }

  async #read({ host, port }: Address, held: Map<string, Held>): Promise<Redis> {
    const client = new Redis({ host, port, monitor: true, retryStrategy: () => 50, maxRetriesPerRequest: null })
    this.#clients.push(client)
    client.on('error', () => undefined)
    // A server that starts again has forgotten every lock.
    client.on('close', () => held.clear())
    let from = 0
    client.on('monitor', (time: string, [command = '', ...args]: string[], source: string) => {
      // Commands of a script follow its EVAL at once; only that line says where they came from.
      if (source !== 'lua') from = Number(source.slice(source.lastIndexOf(':') + 1))
      this.#note({ at: Number(time), command: command.toLowerCase(), args, from }, held)
    })
    await new Promise<void>((resolve) => client.once('monitoring', resolve))
    return client
  }

  #note({ at, command, args, from: port }: Command, held: Map<string, Held>): void {
    if (command === 'flushall') held.clear()
    const [key = '', second = ''] = args
    if (!key.endsWith(':lock')) return
    const before = held.get(key)
    const holder = before !== undefined && before.until > at ? before.token : undefined
    if (command === 'set') {
      const { ttlMs, isNew } = setOptions(args)
      if (holder !== undefined && isNew) return
      held.set(key, { token: second, until: at + ttlMs / 1_000 })
      this.#add(key, { at, kind: 'set', port, token: second, ttlMs, holder })
    } else if (command === 'del' || command === 'unlink') {
      held.delete(key)
      if (holder !== undefined) this.#add(key, { at, kind: 'del', port, token: holder, ttlMs: 0, holder })
    } else if (command === 'pexpire' && holder !== undefined) {
      held.set(key, { token: holder, until: at + Number(second) / 1_000 })
      this.#add(key, { at, kind: 'expire', port, token: holder, ttlMs: Number(second), holder })
    }
  }

  #add(key: string, fact: LockFact): void {
    this.#facts.set(key, [...(this.#facts.get(key) ?? []), fact])
  }

  stop(): void {
    for (const client of this.#clients) client.disconnect()
  }
}
