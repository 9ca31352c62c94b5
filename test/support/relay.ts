import { type AddressInfo, createServer, type Server } from 'node:net'
import { type Fault, Link, type SqlSession, type Statement, type Watched } from './relay-link.ts'
import type { OwnerOf } from './socket-owner.ts'

export type { Fault, Statement } from './relay-link.ts'

export type Armed = { readonly hit: Promise<Statement>; readonly disarm: () => void; readonly hits: () => number }

/**
 * Is between the sandboxes and MySQL, reads the statements that pass and strikes at the one a test names: at TCP
 * level, so the code under test is not prepared for it in any way.
 */
export class DatabaseRelay {
  readonly port: number
  /** Every statement that was sent, with its task, since the relay started. */
  readonly statements: { task: string; sql: string }[] = []
  target: { host: string; port: number } = { host: '127.0.0.1', port: 0 }
  ownerOf: OwnerOf = () => undefined
  /** Every connection there was, with its number at the server. */
  readonly sessions: SqlSession[] = []
  readonly #server: Server
  readonly #faults = new Set<Watched>()
  readonly #links = new Set<Link>()

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (client) => {
      const link = new Link(this, client)
      this.#links.add(link)
      client.once('close', () => {
        // One that was stranded still has its server's side.
        if (link.isOver) this.#links.delete(link)
      })
    })
  }

  static async start(): Promise<DatabaseRelay> {
    const server = createServer({ noDelay: true })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new DatabaseRelay(server)
  }

  arm(fault: Fault): Armed {
    const { promise: hit, resolve } = Promise.withResolvers<Statement>()
    const watched: Watched = { ...fault, seen: 0, hit: 0, resolve }
    this.#faults.add(watched)
    return { hit, disarm: () => this.#faults.delete(watched), hits: () => watched.hit }
  }

  /** The fault that strikes at this statement, if any. */
  match(task: string, sql: string): Watched | undefined {
    this.statements.push({ task, sql: sql.slice(0, 200) })
    for (const fault of this.#faults) {
      if (fault.task !== task || !fault.sql.test(sql)) continue
      fault.seen += 1
      if (fault.seen <= (fault.skip ?? 0)) continue
      fault.hit += 1
      if (fault.hit >= (fault.times ?? 1)) this.#faults.delete(fault)
      return fault
    }
    return undefined
  }

  disarmAll(): void {
    this.#faults.clear()
  }

  /** The server learns at last that the clients of stranded sessions are gone, as its own timeout would tell it. */
  endStranded(): void {
    for (const link of this.#links) if (link.isStranded) link.cut()
  }

  /** Cuts every connection. */
  cutAll(): void {
    for (const link of this.#links) link.cut()
    this.#links.clear()
  }

  async stop(): Promise<void> {
    this.cutAll()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
