import { connect, type Socket } from 'node:net'
import { type FaultTarget, faultTargetOf } from './fault-target.ts'
import type { Owner, OwnerOf } from './socket-owner.ts'

/** A statement on its way to MySQL, and the sandbox that sent it. */
export type Statement = FaultTarget & {
  /** The client's side of the connection breaks; the server keeps its session, and its locks, until the relay stops. */
  readonly strand: () => void
  /** Nothing passes any more in either direction, and neither side learns of it. */
  readonly mute: () => void
  /** The statement is answered with this error and never reaches MySQL, which rolls back first where told. */
  readonly refuse: (error: Refusal) => void
}

export type Refusal = {
  readonly errno: number
  readonly sqlState: string
  readonly message: string
  readonly rollback: boolean
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

/** A fault in wait. */
export type Watched = Fault & { seen: number; hit: number; readonly resolve: (statement: Statement) => void }

/** A session as MySQL numbers it. Numbers begin anew when the server does. */
export type SqlSession = { thread: number; readonly openedAt: number; owner: Owner | undefined }

/** What a connection asks the relay it belongs to. */
export type Switchboard = {
  readonly port: number
  readonly target: { readonly host: string; readonly port: number }
  readonly ownerOf: OwnerOf
  readonly sessions: SqlSession[]
  /** The fault that strikes at this statement, if any. */
  readonly match: (task: string, sql: string) => Watched | undefined
}

const COM_QUERY = 3
const HEADER_BYTES = 4

const packet = (sequence: number, body: Buffer): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUIntLE(body.length, 0, 3)
  header[3] = sequence
  return Buffer.concat([header, body])
}

const errorPacket = ({ errno, sqlState, message }: Refusal): Buffer =>
  packet(1, Buffer.concat([Buffer.from([0xff, errno & 0xff, errno >> 8]), Buffer.from(`#${sqlState}${message}`)]))

/** One connection of a sandbox. Client packets pass one by one; what the server answers passes unless it is held. */
export class Link {
  readonly #relay: Switchboard
  readonly #client: Socket
  readonly #server: Socket
  readonly #session: SqlSession = { thread: 0, openedAt: Date.now(), owner: undefined }
  #bytes = Buffer.alloc(0)
  #passing: Promise<void> = Promise.resolve()
  /** Set while the reply to a statement is awaited by a fault. */
  #held: { fault: Watched; statement: Statement; replies: Buffer[] } | undefined
  /** A load's reply comes after its rows; until then its fault waits here. */
  #afterLoad: { fault: Watched; statement: Statement } | undefined
  #isStranded = false
  #isMute = false
  #refusal: Refusal | undefined
  /** The error that is sent in place of MySQL's answer to our own rollback. */
  #inPlace: Buffer | undefined

  constructor(relay: Switchboard, client: Socket) {
    this.#relay = relay
    this.#client = client
    this.#server = connect({ ...relay.target, noDelay: true })
    for (const [socket, other] of [
      [this.#client, this.#server],
      [this.#server, this.#client],
    ] as const) {
      socket.on('error', () => undefined)
      socket.once('close', () => {
        if (!this.#isStranded && !this.#isMute) other.destroy()
      })
    }
    relay.sessions.push(this.#session)
    client.on('data', (data: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, data])
      this.#passing = this.#passing.then(() => this.#pass())
    })
    this.#server.once('data', (data: Buffer) => {
      // The greeting: protocol version, the server's version up to a zero byte, the thread's number.
      this.#session.thread = data.readUInt32LE(data.indexOf(0, HEADER_BYTES + 1) + 1)
    })
    this.#server.on('data', (data: Buffer) => void this.#reply(data))
  }

  cut(): void {
    this.#client.destroy()
    this.#server.destroy()
  }

  get isStranded(): boolean {
    return this.#isStranded
  }

  get isOver(): boolean {
    return this.#client.destroyed && this.#server.destroyed
  }

  async #pass(): Promise<void> {
    while (this.#bytes.length >= HEADER_BYTES && !this.#isMute) {
      const length = HEADER_BYTES + this.#bytes.readUIntLE(0, 3)
      if (this.#bytes.length < length) return
      const sent = this.#bytes.subarray(0, length)
      this.#bytes = this.#bytes.subarray(length)
      // Commands begin a sequence; the login and a load's rows continue one.
      if (sent[3] === 0 && sent[HEADER_BYTES] === COM_QUERY)
        await this.#command(sent.subarray(HEADER_BYTES + 1).toString('latin1'))
      else if (length === HEADER_BYTES && this.#afterLoad !== undefined) {
        this.#held = { ...this.#afterLoad, replies: [] }
        this.#afterLoad = undefined
      }
      if (this.#refusal !== undefined) this.#answerInPlace(this.#refusal)
      else if (!this.#server.destroyed && !this.#isMute && !this.#isStranded) this.#server.write(sent)
    }
  }

  #answerInPlace(refusal: Refusal): void {
    this.#refusal = undefined
    if (!refusal.rollback) {
      this.#client.write(errorPacket(refusal))
      return
    }
    this.#inPlace = errorPacket(refusal)
    this.#server.write(packet(0, Buffer.from([COM_QUERY, ...Buffer.from('rollback')])))
  }

  async #command(text: string): Promise<void> {
    // Two counts of query attributes come before the text.
    const sql = text
      .slice(Math.max(0, text.search(/[a-z]/i)))
      .trim()
      .replace(/\s+/g, ' ')
    this.#session.owner ??= this.#relay.ownerOf(this.#client.remotePort ?? 0, this.#relay.port)
    const { owner } = this.#session
    if (owner === undefined) return
    const fault = this.#relay.match(owner.task, sql)
    if (fault === undefined) return
    const statement = this.#statement(sql, owner)
    if (fault.moment === 'after') {
      if (/^load data/i.test(sql)) this.#afterLoad = { fault, statement }
      else this.#held = { fault, statement, replies: [] }
      return
    }
    fault.resolve(statement)
    await fault.act(statement)
  }

  async #reply(data: Buffer): Promise<void> {
    if (this.#inPlace !== undefined) {
      this.#client.write(this.#inPlace)
      this.#inPlace = undefined
      return
    }
    const held = this.#held
    if (held === undefined) {
      if (!this.#client.destroyed && !this.#isMute) this.#client.write(data)
      return
    }
    held.replies.push(data)
    if (held.replies.length > 1) return
    held.fault.resolve(held.statement)
    await held.fault.act(held.statement)
    this.#held = undefined
    if (!this.#client.destroyed && !this.#isMute) this.#client.write(Buffer.concat(held.replies))
  }

  #statement(sql: string, owner: Owner): Statement {
    return {
      ...faultTargetOf(owner, sql, () => this.cut()),
      strand: () => {
        this.#isStranded = true
        this.#client.destroy()
      },
      mute: () => {
        this.#isMute = true
      },
      refuse: (error) => {
        this.#refusal = error
      },
    }
  }
}
