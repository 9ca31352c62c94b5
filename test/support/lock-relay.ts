import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type FaultTarget, faultTargetOf } from './fault-target.ts'
import type { Owner, OwnerOf } from './socket-owner.ts'

/** A lock command on its way to Valkey (`before`), or its answer on the way back (`after`). */
export type LockFault = {
  readonly task: string
  readonly moment: 'before' | 'after'
  /** How often it strikes; once by default. */
  readonly times?: number
  readonly act: (at: FaultTarget) => unknown
}

type Watched = LockFault & { hit: number; readonly resolve: (at: FaultTarget) => void }

/** A connection as Valkey sees it: by the relay's own port. */
export type LockSession = {
  readonly port: number
  readonly openedAt: number
  /** From then on the port may be somebody else's. */
  closedAt: number
  owner: Owner | undefined
}

const SCRIPT = /\r\neval(sha)?\r\n/i

/** Is between the sandboxes and Valkey, as the database's relay does before MySQL; the lock's only command is EVAL. */
export class LockRelay {
  readonly port: number
  target: { host: string; port: number } = { host: '127.0.0.1', port: 0 }
  ownerOf: OwnerOf = () => undefined
  /** Every answer comes this much later, ms. */
  delayMs = 0
  readonly sessions: LockSession[] = []
  readonly #server: Server
  readonly #faults = new Set<Watched>()
  readonly #clients = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (client) => this.#link(client))
  }

  static async start(): Promise<LockRelay> {
    const server = createServer({ noDelay: true })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new LockRelay(server)
  }

  arm(fault: LockFault): { hit: Promise<FaultTarget>; disarm: () => void; hits: () => number } {
    const { promise: hit, resolve } = Promise.withResolvers<FaultTarget>()
    const watched: Watched = { ...fault, hit: 0, resolve }
    this.#faults.add(watched)
    return { hit, disarm: () => this.#faults.delete(watched), hits: () => watched.hit }
  }

  disarmAll(): void {
    this.#faults.clear()
    this.delayMs = 0
  }

  #link(client: Socket): void {
    const server = connect({ ...this.target, noDelay: true })
    this.#clients.add(client)
    client.once('close', () => this.#clients.delete(client))
    let session: LockSession | undefined
    server.once('connect', () => {
      session = {
        port: server.localPort ?? 0,
        openedAt: Date.now(),
        closedAt: Number.POSITIVE_INFINITY,
        owner: undefined,
      }
      this.sessions.push(session)
    })
    server.once('close', () => {
      if (session !== undefined) session.closedAt = Date.now()
    })
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => undefined)
      socket.once('close', () => other.destroy())
    }
    const cut = () => client.destroy()
    let passing: Promise<void> = Promise.resolve()
    let answer: Watched | undefined
    client.on('data', (data: Buffer) => {
      passing = passing.then(async () => {
        if (SCRIPT.test(data.toString('latin1'))) answer = (await this.#meet(client, session, cut)) ?? answer
        if (!server.destroyed) server.write(data)
      })
    })
    let answering: Promise<void> = Promise.resolve()
    server.on('data', (data: Buffer) => {
      answering = answering.then(async () => {
        if (this.delayMs > 0) await new Promise((resume) => setTimeout(resume, this.delayMs))
        const fault = answer
        answer = undefined
        if (fault !== undefined && session?.owner !== undefined) await this.#strike(fault, session.owner, cut)
        if (!client.destroyed) client.write(data)
      })
    })
  }

  /** A lock command passes. @returns the fault that strikes at its answer */
  async #meet(client: Socket, session: LockSession | undefined, cut: () => void): Promise<Watched | undefined> {
    // Asked once a connection: finding its process costs milliseconds.
    const owner = session?.owner ?? this.ownerOf(client.remotePort ?? 0, this.port)
    if (session !== undefined) session.owner = owner
    if (owner === undefined) return undefined
    const fault = this.#match(owner.task)
    if (fault?.moment === 'before') await this.#strike(fault, owner, cut)
    return fault?.moment === 'after' ? fault : undefined
  }

  #match(task: string): Watched | undefined {
    for (const fault of this.#faults) {
      if (fault.task !== task) continue
      fault.hit += 1
      if (fault.hit >= (fault.times ?? 1)) this.#faults.delete(fault)
      return fault
    }
    return undefined
  }

  async #strike(fault: Watched, owner: Owner, cut: () => void): Promise<void> {
    const at = faultTargetOf(owner, 'eval', cut)
    fault.resolve(at)
    await fault.act(at)
  }

  cutAll(): void {
    for (const client of this.#clients) client.destroy()
  }

  async stop(): Promise<void> {
    this.cutAll()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
