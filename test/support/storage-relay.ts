import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { OwnerOf } from './socket-owner.ts'

/**
 * What happens to the transfer of an object: it breaks off half way, stops half way and stays silent, or comes byte by
 * byte, never silent long enough to be given up for that, until it is released.
 */
export type TransferFault = {
  /** Who asks. */
  readonly task: string
  /** Of the object's key. */
  readonly key: RegExp
  readonly kind: 'cut' | 'stall' | 'slow'
}

/** A transfer that was hit: who asked, and how what is slow goes on at full speed. */
export type HitTransfer = { readonly pid: number; readonly release: () => void }

type Watched = TransferFault & { readonly resolve: (at: HitTransfer) => void }

const SLOW_BYTE_MS = 500

/** Is between the functions and S3. Requests pass as they are; the transfer that a test names does not arrive whole. */
export class StorageRelay {
  readonly port: number
  target = { host: '127.0.0.1', port: 0 }
  ownerOf: OwnerOf = () => undefined
  readonly #server: Server
  readonly #faults = new Set<Watched>()
  readonly #stalled = new Set<ServerResponse>()

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('request', (asked: IncomingMessage, answer: ServerResponse) => this.#pass(asked, answer))
  }

  static async start(): Promise<StorageRelay> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new StorageRelay(server)
  }

  /** Strikes once. */
  arm(fault: TransferFault): { hit: Promise<HitTransfer> } {
    const { promise: hit, resolve } = Promise.withResolvers<HitTransfer>()
    this.#faults.add({ ...fault, resolve })
    return { hit }
  }

  disarmAll(): void {
    this.#faults.clear()
    for (const answer of this.#stalled) answer.destroy()
    this.#stalled.clear()
  }

  #pass(asked: IncomingMessage, answer: ServerResponse): void {
    const fault = this.#match(asked)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    if (fault !== undefined) {
      this.#faults.delete(fault)
      fault.resolve({ pid: this.ownerOf(asked.socket.remotePort ?? 0, this.port)?.pid ?? 0, release })
    }
    const { method, url: path, headers } = asked
    const passed = request({ ...this.target, method, path, headers }, (found) => {
      answer.writeHead(found.statusCode ?? 500, found.headers)
      if (fault === undefined) found.pipe(answer)
      else if (fault.kind === 'slow') void this.#sendSlowly(found, answer, released)
      else this.#sendHalf(fault, found, answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  }

  #match({ method, url, socket }: IncomingMessage): Watched | undefined {
    if (method !== 'GET' || this.#faults.size === 0) return undefined
    const task = this.ownerOf(socket.remotePort ?? 0, this.port)?.task
    return [...this.#faults].find((fault) => fault.task === task && fault.key.test(decodeURI(url ?? '')))
  }

  #sendHalf({ kind }: TransferFault, found: IncomingMessage, answer: ServerResponse): void {
    const half = Math.floor(Number(found.headers['content-length'] ?? 0) / 2)
    let left = half
    found.on('data', (data: Buffer) => {
      if (left > 0) answer.write(data.subarray(0, left))
      left -= data.length
    })
    found.on('end', () => {
      if (kind === 'cut') answer.destroy()
      else this.#stalled.add(answer)
    })
  }

  async #sendSlowly(found: IncomingMessage, answer: ServerResponse, released: Promise<void>): Promise<void> {
    this.#stalled.add(answer)
    const body = await buffer(found)
    let sent = 0
    const timer = setInterval(() => {
      answer.write(body.subarray(sent, sent + 1))
      sent += 1
    }, SLOW_BYTE_MS)
    await Promise.race([released, once(answer, 'close')])
    clearInterval(timer)
    if (!answer.destroyed) answer.end(body.subarray(sent))
  }

  async stop(): Promise<void> {
    this.disarmAll()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
