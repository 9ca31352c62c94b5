import { Readable } from 'node:stream'
import { LOAD_PIECE_BYTES } from '../../contract/limits.ts'

const piecesOf = function* (body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += LOAD_PIECE_BYTES) yield body.subarray(at, at + LOAD_PIECE_BYTES)
}

/** A body in pieces: a packet is refused where it is larger than the server's max_allowed_packet. */
export const streamOf = (body: Buffer): Readable => Readable.from(piecesOf(body), { objectMode: false })
