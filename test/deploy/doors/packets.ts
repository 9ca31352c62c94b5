import { once } from 'node:events'
import type { Duplex } from 'node:stream'

/** One packet of MySQL's protocol; none of a login is longer than a header can say. */
export type Packet = { readonly sequence: number; readonly payload: Buffer }

const HEADER_BYTES = 4

/** Exactly so many bytes; what follows stays in the stream for whoever reads it next. */
const readExactly = async (stream: Duplex, bytes: number): Promise<Buffer> => {
  for (;;) {
    const chunk = stream.read(bytes) as Buffer | null
    if (chunk?.length === bytes) return chunk
    if (chunk !== null || stream.readableEnded || stream.destroyed) throw new Error('The connection ended in a packet')
    const ended = new AbortController()
    await Promise.race([
      once(stream, 'readable', { signal: ended.signal }),
      once(stream, 'close', { signal: ended.signal }),
    ]).finally(() => ended.abort())
  }
}

export const readPacket = async (stream: Duplex): Promise<Packet> => {
  const header = await readExactly(stream, HEADER_BYTES)
  return { sequence: header.readUInt8(3), payload: await readExactly(stream, header.readUIntLE(0, 3)) }
}

/** With its header. */
export const packet = (sequence: number, payload: Buffer): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUIntLE(payload.length, 0, 3)
  header.writeUInt8(sequence, 3)
  return Buffer.concat([header, payload])
}

/** The packets that are whole, and the bytes that begin another. */
export const wholePackets = (bytes: Buffer): { readonly packets: readonly Packet[]; readonly rest: Buffer } => {
  const packets: Packet[] = []
  let at = 0
  while (bytes.length - at >= HEADER_BYTES) {
    const end = at + HEADER_BYTES + bytes.readUIntLE(at, 3)
    if (end > bytes.length) break
    packets.push({ sequence: bytes.readUInt8(at + 3), payload: bytes.subarray(at + HEADER_BYTES, end) })
    at = end
  }
  return { packets, rest: bytes.subarray(at) }
}
