import { connect, type Socket } from 'node:net'

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

/** The process behind a connection. */
export type Owner = { readonly pid: number; readonly task: string }

/** A fault in wait. */
export type Watched = Fault & { seen: number; struck: number; readonly resolve: (statement: Statement) => void }

/** What a connection asks the relay it belongs to. */
export type Switchboard = {
  readonly port: number
  readonly target: { readonly host: string; readonly port: number }
  readonly ownerOf: (clientPort: number, relayPort: number) => Owner | undefined
  /** The fault that strikes at this statement, if any. */
  readonly match: (task: string, sql: string) => Watched | undefined
}

const COM_QUERY = 3
const HEADER_BYTES = 4

/** One connection of a sandbox. Client packets pass one by one; what the server answers passes unless it is held. */
export class Link {
  readonly #relay: Switchboard
  readonly #client: Socket
  readonly #server: Socket
  #owner: Owner | undefined
  #bytes = Buffer.alloc(0)
  #passing: Promise<void> = Promise.resolve()
  /** Set while the reply to a statement is awaited by a fault. */
  #held: { fault: Watched; statement: Statement; replies: Buffer[] } | undefined
  /** A load's reply comes after its rows; until then its fault waits here. */
  #afterLoad: { fault: Watched; statement: Statement } | undefined

  constructor(relay: Switchboard, client: Socket) {
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
    // Two counts of query attributes stand before the text.
    const sql = text
      .slice(Math.max(0, text.search(/[a-z]/i)))
      .trim()
      .replace(/\s+/g, ' ')
    this.#owner ??= this.#relay.ownerOf(this.#client.remotePort ?? 0, this.#relay.port)
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
