import { once } from 'node:events'
import { connect as connectPlain } from 'node:net'
import { pipeline } from 'node:stream'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import type { Check } from './mysql-door.ts'

export type ValkeyDoorOptions = {
  readonly port: number
  readonly serverPort: number
  readonly key: string
  readonly certificate: string
  readonly check: Check
}

/** The login of a first command, be it AUTH or HELLO with AUTH in it. */
const LOGIN = /(\r\nauth\r\n\$\d+\r\n([^\r]+)\r\n)\$\d+\r\n([^\r]+)\r\n/i

/** ElastiCache's way in: TLS with a certificate for the name, and a login whose password is a token. */
export const openValkeyDoor = async (options: ValkeyDoorOptions): Promise<Server> => {
  const { key, certificate: cert, port } = options
  const server = createServer({ key, cert }, (client) => letIn(client, options))
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return server
}

const letIn = (client: TLSSocket, { serverPort, check }: ValkeyDoorOptions): void => {
  const server = connectPlain(serverPort, '127.0.0.1')
  const end = () => {
    client.destroy()
    server.destroy()
  }
  for (const socket of [client, server]) socket.setMaxListeners(0).on('error', end).on('close', end)
  let seen = Buffer.alloc(0)
  const first = (chunk: Buffer) => {
    seen = Buffer.concat([seen, chunk])
    const command = seen.toString('latin1')
    const login = LOGIN.exec(command)
    if (login === null) return
    client.off('data', first)
    const [whole, before = '', user = '', token = ''] = login
    // The server itself says WRONGPASS to a wrong one.
    const password = check(user, token) ?? token
    server.write(
      command.replace(whole, () => `${before}$${password.length}\r\n${password}\r\n`),
      'latin1',
    )
    pipeline(client, server, end)
    pipeline(server, client, end)
  }
  client.on('data', first)
}
