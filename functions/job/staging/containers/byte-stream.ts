import type { SourceRule } from '../../../contract/source-refusals.ts'
import { SourceUnreadable } from './source-unreadable.ts'

/** How large a file may be, packed or not, and how much larger a packed one may grow. */
export type SizeLimits = {
  readonly bytesMax: number
  /** Of what must be held in memory, since its directory is at its end: a zip archive, a workbook. */
  readonly zipBytesMax: number
  readonly zipEntriesMax: number
  /** Unpacked bytes for one packed one, once more than `expansionFreeBytes` were unpacked. */
  readonly expansionMax: number
  readonly expansionFreeBytes: number
}

export const startsWith = (bytes: Buffer, magic: Buffer): boolean => bytes.subarray(0, magic.length).equals(magic)

/** `first`, then what is left of `rest`. */
export async function* followedBy(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (first.length > 0) yield first
  yield* rest
}

/** The first `count` or more bytes together (fewer only if there are no more), and the bytes after them. */
export const splitHead = async (
  bytes: AsyncIterable<Buffer>,
  count: number,
): Promise<{ head: Buffer; rest: AsyncIterable<Buffer> }> => {
  const iterator = bytes[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (head.length < count) {
    const next = await iterator.next()
    if (next.done === true) break
    head = Buffer.concat([head, next.value])
  }
  return { head, rest: { [Symbol.asyncIterator]: () => iterator } }
}

/** The bytes, refused under `rule` once there are more than `bytesMax`. */
export async function* bounded(
  bytes: AsyncIterable<Buffer>,
  bytesMax: number,
  rule: SourceRule = 'file-bytes',
): AsyncGenerator<Buffer> {
  let count = 0
  for await (const chunk of bytes) {
    count += chunk.length
    if (count > bytesMax) throw new SourceUnreadable(rule)
    yield chunk
  }
}

/** Whether something that was `given` packed bytes has unpacked to more than anything honest does. */
export const isBomb = (given: number, unpacked: number, { expansionMax, expansionFreeBytes }: SizeLimits): boolean =>
  unpacked > expansionFreeBytes && unpacked > expansionMax * given
