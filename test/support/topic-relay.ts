import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** `silent`: requests are taken and nothing happens. `unanswered`: the topic has the event, and nobody is told. */
export type Silence = 'silent' | 'unanswered'

/** Is between the functions and SNS, which answers at once or, for as long as a test wants, not at all. */
export class TopicRelay {
  readonly port: number
  target = { host: '127.0.0.1', port: 0 }
  silence: Silence | undefined
  /** Requests that found it silent. */
  unheard = 0
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    server.on('request', (asked: IncomingMessage, answer: ServerResponse) => this.#pass(asked, answer))
  }

  static async start(): Promise<TopicRelay> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new TopicRelay(server)
  }

  /** It answers again; who waits still learns that nobody did. */
  disarmAll(): void {
    if (this.silence !== undefined) this.#server.closeAllConnections()
    this.silence = undefined
    this.unheard = 0
  }

  #pass(asked: IncomingMessage, answer: ServerResponse): void {
    const { silence } = this
    if (silence !== undefined) this.unheard += 1
    if (silence === 'silent') {
      asked.resume()
      return
    }
    const { method, url: path, headers } = asked
    const passed = request({ ...this.target, method, path, headers }, (found) => {
      if (silence === 'unanswered') {
        found.resume()
        return
      }
      answer.writeHead(found.statusCode ?? 500, found.headers)
      found.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
