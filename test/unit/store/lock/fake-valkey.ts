import { createServer, type Server, type Socket } from 'node:net'

/** A server that answers as Valkey would, or as one in trouble; a failover can't be had from a real one at will. */
export class FakeValkey {
  readonly #server: Server
  readonly #sockets: Socket[] = []
  /** Commands of each connection, in order. */
  readonly connections: string[][][] = []

  private constructor(answer: (command: readonly string[], connection: number) => string) {
    this.#server = createServer((socket) => {
      const commands: string[][] = []
      const connection = this.connections.push(commands)
      this.#sockets.push(socket)
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => {
        for (const command of commandsOf(bytes.toString())) {
          commands.push(command)
          socket.write(answer(command, connection))
        }
      })
    })
  }

  static async start(answer: (command: readonly string[], connection: number) => string): Promise<FakeValkey> {
    const fake = new FakeValkey(answer)
    await new Promise<void>((ready) => fake.#server.listen(0, '127.0.0.1', ready))
    return fake
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  drop(): void {
    for (const socket of this.#sockets.splice(0)) socket.destroy()
  }

  stop(): void {
    this.drop()
    this.#server.close()
  }
}

/** `*2\r\n$3\r\nGET\r\n$1\r\nk\r\n` -> [['get', 'k']]; a command of a test arrives whole. */
const commandsOf = (text: string): string[][] =>
  text
    .split(/^\*\d+\r\n/m)
    .filter((part) => part !== '')
    .map((part) => part.split(/\$\d+\r\n/).flatMap((word) => (word === '' ? [] : [word.replace(/\r\n$/, '')])))

export const YES = ':1\r\n'

/** ioredis greets with `HELLO 3`, and with user and password in it where there are any. */
export const isHello = ([name]: readonly string[]): boolean => /^hello$/i.test(name ?? '')
