import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A statement on its way to MySQL, and the sandbox that sent it. */
export type Statement = {
  readonly sql: string
  readonly task: string
  readonly pid: number
  /** kill -9 of the sandbox; a statement that was not forwarded yet never is. */
  readonly kill: () => void
  /** SIGSTOP: the sandbox stands still, its connection stays open. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Cuts the connection on both sides; the sandbox lives. */
  readonly cut: () => void
}

/** `before`: the statement has not reached MySQL. `after`: MySQL has answered, and the sandbox does not know it. */
export type Fault = {
  readonly task: string
  readonly sql: RegExp
  readonly moment: 'before' | 'after'
  /** Matching statements that pass first. */
  readonly skip?: number
  /** How often it strikes; once by default. */
  readonly times?: number
  readonly act: (statement: Statement) => unknown
}

export type Armed = { readonly struck: Promise<Statement>; readonly disarm: () => void; readonly strikes: () => number }

export type Owner = { readonly pid: number; readonly task: string }

const COM_QUERY = 3
const HEADER_BYTES = 4

type Watched = Fault & { seen: number; struck: number; readonly resolve: (statement: Statement) => void }

/**
 * Stands between the sandboxes and MySQL, reads the statements that pass and strikes at the one a test names: at TCP
 * level, so the code under test is not prepared for it in any way.
 */
export class DatabaseRelay {
  readonly port: number
  /** Every statement that was sent, with its task, since the relay started. */
  readonly statements: { task: string; sql: string }[] = []
  target: { host: string; port: number } = { host: '127.0.0.1', port: 0 }
  ownerOf: (clientPort: number) => Owner | undefined = () => undefined
  readonly #server: Server
  readonly #faults = new Set<Watched>()
  readonly #links = new Set<Link>()

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('connection', (client) => {
      const link = new Link(this, client)
      this.#links.add(link)
      client.once('close', () => this.#links.delete(link))
    })
  }

  static async start(): Promise<DatabaseRelay> {
    const server = createServer({ noDelay: true })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new DatabaseRelay(server)
  }

  arm(fault: Fault): Armed {
    const { promise: struck, resolve } = Promise.withResolvers<Statement>()
    const watched: Watched = { ...fault, seen: 0, struck: 0, resolve }
    this.#faults.add(watched)
    return { struck, disarm: () => this.#faults.delete(watched), strikes: () => watched.struck }
  }

  /** The fault that strikes at this statement, if any. */
  match(task: string, sql: string): Watched | undefined {
    this.statements.push({ task, sql: sql.slice(0, 200) })
    for (const fault of this.#faults) {
      if (fault.task !== task || !fault.sql.test(sql)) continue
      fault.seen += 1
      if (fault.seen <= (fault.skip ?? 0)) continue
      fault.struck += 1
      if (fault.struck >= (fault.times ?? 1)) this.#faults.delete(fault)
      return fault
    }
    return undefined
  }

  disarmAll(): void {
    this.#faults.clear()
  }

  /** Cuts every connection. */
  cutAll(): void {
    for (const link of this.#links) link.cut()
  }

  async stop(): Promise<void> {
    this.cutAll()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** One connection of a sandbox. Client packets pass one by one; what the server answers passes unless it is held. */
class Link {
  readonly #relay: DatabaseRelay
  readonly #client: Socket
  readonly #server: Socket
  #owner: Owner | undefined
  #bytes = Buffer.alloc(0)
  #passing: Promise<void> = Promise.resolve()
  /** Set while the reply to a statement is awaited by a fault. */
  #held: { fault: Watched; statement: Statement; replies: Buffer[] } | undefined
  /** A load's reply comes after its rows; until then its fault waits here. */
  #afterLoad: { fault: Watched; statement: Statement } | undefined

  constructor(relay: DatabaseRelay, client: Socket) {
    this.#relay = relay
    this.#client = client
    this.#server = connect({ ...relay.target, noDelay: true })
    for (const [socket, other] of [
      [this.#client, this.#server],
      [this.#server, this.#client],
    ] as const) {
      socket.on('error', () => undefined)
      socket.once('close', () => other.destroy())
    }
    client.on('data', (data: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, data])
      this.#passing = this.#passing.then(() => this.#pass())
    })
    this.#server.on('data', (data: Buffer) => void this.#reply(data))
  }

  cut(): void {
    this.#client.destroy()
    this.#server.destroy()
  }

  async #pass(): Promise<void> {
    while (this.#bytes.length >= HEADER_BYTES) {
      const length = HEADER_BYTES + this.#bytes.readUIntLE(0, 3)
      if (this.#bytes.length < length) return
      const packet = this.#bytes.subarray(0, length)
      this.#bytes = this.#bytes.subarray(length)
      // Commands begin a sequence; the login and a load's rows continue one.
      if (packet[3] === 0 && packet[HEADER_BYTES] === COM_QUERY)
        await this.#command(packet.subarray(HEADER_BYTES + 1).toString('latin1'))
      else if (length === HEADER_BYTES && this.#afterLoad !== undefined) {
        this.#held = { ...this.#afterLoad, replies: [] }
        this.#afterLoad = undefined
      }
      if (!this.#server.destroyed) this.#server.write(packet)
    }
  }

  async #command(text: string): Promise<void> {
    const sql = text.trim().replace(/\s+/g, ' ')
    this.#owner ??= this.#relay.ownerOf(this.#client.remotePort ?? 0)
    if (this.#owner === undefined) return
    const fault = this.#relay.match(this.#owner.task, sql)
    if (fault === undefined) return
    const statement = this.#statement(sql, this.#owner)
    if (fault.moment === 'after') {
      if (/^load data/i.test(sql)) this.#afterLoad = { fault, statement }
      else this.#held = { fault, statement, replies: [] }
      return
    }
    fault.resolve(statement)
    await fault.act(statement)
  }

  async #reply(data: Buffer): Promise<void> {
    const held = this.#held
    if (held === undefined) {
      if (!this.#client.destroyed) this.#client.write(data)
      return
    }
    held.replies.push(data)
    if (held.replies.length > 1) return
    held.fault.resolve(held.statement)
    await held.fault.act(held.statement)
    this.#held = undefined
    if (!this.#client.destroyed) this.#client.write(Buffer.concat(held.replies))
  }

  #statement(sql: string, { pid, task }: Owner): Statement {
    return {
      sql,
      task,
      pid,
      kill: () => {
        process.kill(pid, 'SIGKILL')
        this.cut()
      },
      freeze: () => void process.kill(pid, 'SIGSTOP'),
      thaw: () => void process.kill(pid, 'SIGCONT'),
      cut: () => this.cut(),
    }
  }
}

/** Which of the processes has the socket with this local port, as Linux tells under /proc. */
export const ownerOfPort = (port: number, pids: readonly number[]): number | undefined => {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const inode = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find((fields) => fields[1]?.endsWith(local))?.[9]
  return pids.find((pid) => {
    try {
      return readdirSync(`/proc/${pid}/fd`).some((fd) => linkOf(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`)
    } catch {
      return false
    }
  })
}

const linkOf = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
