/** What a client says of itself in MySQL's login: HandshakeResponse41, as much of it as a door needs. */
export type Login = {
  readonly user: string
  /** Everything before the client's answer to the greeting, and everything after it. */
  readonly before: Buffer
  readonly after: Buffer
}

export const CLIENT_SSL = 0x0800
const CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA = 0x00200000
/** Flags, the longest packet, the character set and a filler. */
const FIXED_BYTES = 32

export const readLogin = (payload: Buffer): Login => {
  if ((payload.readUInt32LE(0) & CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA) === 0)
    throw new Error('A client without lengths before its answers is not let in')
  const end = payload.indexOf(0, FIXED_BYTES)
  const user = payload.subarray(FIXED_BYTES, end).toString()
  // Below 251 a length is one byte; scrambles have 32 bytes at most.
  const length = payload.readUInt8(end + 1)
  return { user, before: payload.subarray(0, end + 1), after: payload.subarray(end + 2 + length) }
}

/** The same login with another answer. */
export const withAnswer = ({ before, after }: Login, answer: Buffer): Buffer =>
  Buffer.concat([before, Buffer.from([answer.length]), answer, after])
