import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Where one exchange is held up: before the request is passed on, or half way through the answer's body. */
export type Hold = { readonly path: RegExp; readonly part: 'request' | 'body' }

type Held = Hold & { times: number; readonly reached: () => void; readonly released: Promise<void> }

/** Is in front of S3 and SNS, and holds up the exchanges that a test names until it lets them go on. */
export class HttpRelay {
  readonly port: number
  target = { host: '127.0.0.1', port: 0 }
  readonly #server: Server
  readonly #holds = new Set<Held>()

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('request', (asked: IncomingMessage, answer: ServerResponse) => void this.#pass(asked, answer))
  }

  static async start(): Promise<HttpRelay> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new HttpRelay(server)
  }

  /** Holds up the next `times` exchanges that fit. */
  hold(hold: Hold, times = 1): { readonly hit: Promise<void>; readonly release: () => void } {
    const { promise: hit, resolve: reached } = Promise.withResolvers<void>()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    this.#holds.add({ ...hold, times, reached, released })
    return { hit, release }
  }

  async #pass(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const held = [...this.#holds].find(({ path }) => path.test(decodeURI(asked.url ?? '')))
    if (held !== undefined) {
      held.times -= 1
      if (held.times === 0) this.#holds.delete(held)
    }
    if (held?.part === 'request') {
      held.reached()
      await held.released
    }
    const { method, url: path, headers } = asked
    const passed = request({ ...this.target, method, path, headers }, (found) => {
      answer.writeHead(found.statusCode ?? 500, found.headers)
      if (held?.part === 'body') void this.#sendInHalves(held, found, answer)
      else found.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  }

  async #sendInHalves(held: Held, found: IncomingMessage, answer: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of found) parts.push(part as Buffer)
    const body = Buffer.concat(parts)
    answer.write(body.subarray(0, body.length / 2))
    held.reached()
    await held.released
    answer.end(body.subarray(body.length / 2))
  }

  disarmAll(): void {
    this.#holds.clear()
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
