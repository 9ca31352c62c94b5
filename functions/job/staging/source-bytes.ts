import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Encoding } from '../../contract/encodings.ts'
import { SourceUnreadable } from './source-errors.ts'

/** What was found out about a file on the way; filled in while it is read. */
export type SourceFormat = { compressed: boolean; encoding: SourceEncoding }

/** The encodings a file may have. `ascii` is one that never left ASCII, which each of the others may also be called. */
type SourceEncoding = 'ascii' | Exclude<Encoding, 'detected'>

const GZIP = Buffer.from([0x1f, 0x8b])
/** xlsx and zip; xls. Both reach us under a name that ends in `.csv`. */
const ARCHIVES = [Buffer.from('PK\x03\x04', 'latin1'), Buffer.from([0xd0, 0xcf, 0x11, 0xe0])]

/** Enough bytes for every magic number and byte order mark. */
const HEAD_BYTES = 4

export const startsWith = (bytes: Buffer, magic: Buffer): boolean => bytes.subarray(0, magic.length).equals(magic)

/** `first`, then what is left of `rest`. */
export async function* followedBy(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first
  yield* rest
}

/** The first HEAD_BYTES or more bytes together (fewer only if there are no more), and the bytes after them. */
export const splitHead = async (
  bytes: AsyncIterable<Buffer>,
): Promise<{ head: Buffer; rest: AsyncIterable<Buffer> }> => {
  const iterator = bytes[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < HEAD_BYTES) {
    const next = await iterator.next()
    if (next.done === true) break
    head = Buffer.concat([head, next.value])
  }
  return { head, rest: { [Symbol.asyncIterator]: () => iterator } }
}

async function* bounded(bytes: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let count = 0
  for await (const chunk of bytes) {
    count += chunk.length
    if (count > bytesMax) throw new SourceUnreadable('file-bytes')
    yield chunk
  }
}

/** Several members are one file; one that is cut off or damaged is refused, never read as far as it goes. */
async function* gunzipped(
  bytes: AsyncIterable<Buffer>,
  { expansionMax, expansionFreeBytes }: SizeLimits,
): AsyncGenerator<Buffer> {
  let given = 0
  let unpacked = 0
  const counted = async function* () {
    for await (const chunk of bytes) {
      given += chunk.length
      yield chunk
    }
  }
  const source = Readable.from(counted(), { objectMode: false })
  const gunzip = createGunzip()
  let failure: Error | undefined
  // An error of the source itself (storage, limits) is no fault of the gzip file and passes through unchanged.
  source.on('error', (error) => {
    failure = error
    gunzip.destroy(error)
  })
  source.pipe(gunzip)
  try {
    for await (const chunk of gunzip) {
      unpacked += chunk.length
      if (unpacked > expansionFreeBytes && unpacked > expansionMax * given) throw new SourceUnreadable('gzip-expansion')
      yield chunk
    }
    // A zero byte behind a member counts as padding for Node, which then drops whatever follows without a word.
    if (gunzip.bytesWritten < given) throw new Error(`unpacking ended after ${gunzip.bytesWritten} of ${given} bytes`)
  } catch (error) {
    if (failure !== undefined) throw failure
    if (error instanceof SourceUnreadable) throw error
    const cutOff = error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR'
    throw new SourceUnreadable(cutOff ? 'gzip-truncated' : 'gzip-damaged', error)
  } finally {
    source.destroy()
  }
}

/** How large a file may be, packed or not, and how much larger a packed one may grow. */
export type SizeLimits = {
  readonly bytesMax: number
  /** Unpacked bytes for one packed one, once more than `expansionFreeBytes` were unpacked. */
  readonly expansionMax: number
  readonly expansionFreeBytes: number
}

/**
 * The bytes of the file's text: unpacked if it begins as gzip does, whatever it is called. Bounded before and after
 * unpacking: a small file that unpacks to a huge one is refused.
 */
export async function* textBytes(
  bytes: AsyncIterable<Buffer>,
  limits: SizeLimits,
  format: SourceFormat,
): AsyncGenerator<Buffer> {
  const { bytesMax } = limits
  const { head, rest } = await splitHead(bounded(bytes, bytesMax))
  if (ARCHIVES.some((magic) => startsWith(head, magic))) throw new SourceUnreadable('spreadsheet')
  format.compressed = startsWith(head, GZIP)
  const whole = followedBy(head, rest)
  yield* format.compressed ? bounded(gunzipped(whole, limits), bytesMax) : whole
}
