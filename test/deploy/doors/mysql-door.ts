import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { pipeline, Transform } from 'node:stream'
import { connect as connectTls, TLSSocket } from 'node:tls'
import { CLIENT_SSL, type Login, readLogin, withAnswer } from './login.ts'
import { packet, readPacket, wholePackets } from './packets.ts'

/** A password that the server behind the door takes, for what the client gave; undefined: not let in. */
export type Check = (user: string, password: string) => string | undefined

export type MysqlDoorOptions = {
  readonly port: number
  /** Of the server behind. */
  readonly serverPort: number
  readonly key: string
  readonly certificate: string
  /** Who logs in with IAM passwords; everybody else has one of the server's. */
  readonly isIam: (user: string) => boolean
  readonly check: Check
  /** Changes the text of a statement on its way. */
  readonly rewrite: (statement: string) => string
}

const COM_QUERY = 3
const SWITCH = 0xfe
const MORE = 1
const FULL_LOGIN = 4
/** A scramble that fits no password: the server then asks for the password itself, which TLS covers. */
const NO_SCRAMBLE = Buffer.alloc(32, 1)

/**
 * RDS's way in, in front of a MySQL server that has neither its certificate nor its IAM plugin: TLS with a certificate
 * for the name, tokens as clear passwords. After the login it passes bytes on, so that the server behind is the one that
 * the functions meet.
 */
export const openMysqlDoor = async (options: MysqlDoorOptions): Promise<Server> => {
  const server = createServer((client) => {
    letIn(client, options).catch(() => client.destroy())
  })
  await once(server.listen(options.port, '127.0.0.1'), 'listening')
  return server
}

const letIn = async (client: Socket, options: MysqlDoorOptions): Promise<void> => {
  const server = connect(options.serverPort, '127.0.0.1')
  const end = () => {
    client.destroy()
    server.destroy()
  }
  for (const socket of [client, server]) socket.setMaxListeners(0).on('error', end).on('close', end)

  const greeting = await readPacket(server)
  client.write(packet(greeting.sequence, greeting.payload))
  const request = await readPacket(client)
  // As with require_secure_transport: nobody sends a password in the clear.
  if ((request.payload.readUInt32LE(0) & CLIENT_SSL) === 0) return void client.end(refusal(2, 3159, 'TLS is required'))
  server.write(packet(request.sequence, request.payload))
  const inside = connectTls({ socket: server, rejectUnauthorized: false })
  const outside = new TLSSocket(client, { isServer: true, key: options.key, cert: options.certificate })
  for (const socket of [inside, outside]) socket.setMaxListeners(0).on('error', end)

  const login = readLogin((await readPacket(outside)).payload)
  const password = await askPassword(outside, options.isIam(login.user))
  const known = options.check(login.user, password)
  if (known === undefined) return void outside.end(refusal(5, 1045, `Access denied for user '${login.user}'`))
  outside.write(packet(5, await logIn(inside, login, known)))
  pipeline(outside, rewriting(options.rewrite), inside, end)
  pipeline(inside, outside, end)
}

/** An IAM user is told to send the token as it is; every other login asks for the password under TLS. */
const askPassword = async (client: TLSSocket, isIam: boolean): Promise<string> => {
  const ask = isIam
    ? Buffer.concat([Buffer.from([SWITCH]), Buffer.from('mysql_clear_password\0')])
    : Buffer.from([MORE, FULL_LOGIN])
  client.write(packet(3, ask))
  const { payload } = await readPacket(client)
  return payload.subarray(0, -1).toString()
}

/** The server's last word on the login. */
const logIn = async (server: TLSSocket, login: Login, password: string): Promise<Buffer> => {
  server.write(packet(2, withAnswer(login, NO_SCRAMBLE)))
  for (;;) {
    const { sequence, payload } = await readPacket(server)
    if (payload[0] !== MORE) return payload
    if (payload[1] === FULL_LOGIN) server.write(packet(sequence + 1, Buffer.from(`${password}\0`)))
  }
}

const rewriting = (rewrite: (statement: string) => string): Transform => {
  let rest: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const read = wholePackets(Buffer.concat([rest, chunk]))
      rest = read.rest
      for (const { sequence, payload } of read.packets)
        this.push(packet(sequence, payload[0] === COM_QUERY && sequence === 0 ? rewritten(payload, rewrite) : payload))
      done()
    },
  })
}

const rewritten = (payload: Buffer, rewrite: (statement: string) => string): Buffer => {
  const statement = payload.toString('latin1')
  const other = rewrite(statement)
  return other === statement ? payload : Buffer.from(other, 'latin1')
}

const refusal = (sequence: number, code: number, message: string): Buffer => {
  const head = Buffer.alloc(3)
  head.writeUInt8(0xff, 0)
  head.writeUInt16LE(code, 1)
  return packet(sequence, Buffer.concat([head, Buffer.from(`#28000${message}`)]))
}
