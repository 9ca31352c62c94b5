import type { S3Client } from '@aws-sdk/client-s3'
import type { Manifest, ManifestChunk } from '../../functions/contract/manifest.ts'
import { LINE_END, splitLine } from '../../functions/contract/row-format.ts'
import { readChunk } from '../../functions/store/s3/staged.ts'
import type { Changes, FoundChange } from './changes.ts'
import type { Difference } from './start-plan.ts'

/** Rows in the order of the primary key, in chunks that are made or read when their turn comes. */
export type RowSet = {
  readonly chunks: readonly Pick<ManifestChunk, 'digest' | 'rows'>[]
  readonly body: (number: number) => Promise<Buffer>
}

/** A staged source in S3, each chunk checked against its digest. The next chunk is on its way while one is compared. */
export const rowsOfStaged = (s3: S3Client, bucket: string, manifest: Manifest): RowSet => {
  const read = (number: number): Promise<Buffer> => {
    const body = readChunk(s3, bucket, manifest.digest, manifest.chunks[number] as ManifestChunk)
    // Awaited one chunk later, or never where the chunk is skipped; its failure is thrown where it is awaited.
    body.catch(() => undefined)
    return body
  }
  let ahead: { number: number; body: Promise<Buffer> } | undefined
  const body = (number: number): Promise<Buffer> => {
    const current = ahead?.number === number ? ahead.body : read(number)
    ahead = number + 1 < manifest.chunks.length ? { number: number + 1, body: read(number + 1) } : undefined
    return current
  }
  return { chunks: manifest.chunks, body }
}

/** No rows at all: what a first set is compared with. */
export const NO_ROWS: RowSet = { chunks: [], body: () => Promise.reject(new Error('An empty set has no chunk.')) }

type Row = ReturnType<typeof splitLine>

/** A place in a row set. It holds one chunk's rows at a time. */
class Cursor {
  readonly #set: RowSet
  #chunk = 0
  #row = 0
  #lines: string[] | undefined

  constructor(set: RowSet) {
    this.#set = set
  }

  /** The digest of the chunk that begins here; undefined inside a chunk and at the end. */
  get edge(): string | undefined {
    return this.#lines === undefined ? this.#set.chunks[this.#chunk]?.digest : undefined
  }

  /** The row here; undefined at the edge of a chunk that is not loaded, and at the end. */
  get row(): Row | undefined {
    const line = this.#lines?.[this.#row]
    return line === undefined ? undefined : splitLine(line)
  }

  async load(): Promise<void> {
    if (this.#lines !== undefined || this.#chunk >= this.#set.chunks.length) return
    const body = await this.#set.body(this.#chunk)
    // All of a staged source is ASCII, and its last line ends as the others do.
    this.#lines = body.toString('latin1').split(LINE_END)
    this.#lines.pop()
    this.#row = 0
  }

  next(): void {
    this.#row += 1
    if (this.#row < (this.#lines?.length ?? 0)) return
    this.#lines = undefined
    this.#chunk += 1
  }

  /** Passes over the chunk that begins here. @returns its rows */
  skip(): number {
    const rows = this.#set.chunks[this.#chunk]?.rows ?? 0
    this.#chunk += 1
    return rows
  }
}

export type Counts = Pick<Difference, 'added' | 'removed' | 'changed' | 'unchanged'>

/**
 * Counts how `now` differs from `before`: a merge of two sorted streams in the memory of one chunk each. Keys compare
 * as texts: a tab is below every character of a value, so a value comes before its extensions, as in the primary key.
 * Where both are before chunks of the same digest, neither is read.
 *
 * @param changes is told each row that is not the same in both
 */
export const compare = async (now: RowSet, before: RowSet, changes?: Changes): Promise<Counts> => {
  const counts = { added: 0, removed: 0, changed: 0, unchanged: 0 }
  const [left, right] = [new Cursor(now), new Cursor(before)]
  for (;;) {
    while (left.edge !== undefined && left.edge === right.edge) {
      counts.unchanged += left.skip()
      right.skip()
    }
    await Promise.all([left.load(), right.load()])
    if (left.row === undefined && right.row === undefined) {
      await changes?.flush()
      return counts
    }
    mergeLoaded(left, right, counts, changes)
    await changes?.flush()
  }
}

/** Goes on until one side has to load its next chunk, without waiting for anything in between. */
const mergeLoaded = (
  left: Cursor,
  right: Cursor,
  counts: { -readonly [Count in keyof Counts]: number },
  changes: Changes | undefined,
): void => {
  let [a, b] = [left.row, right.row]
  const [leftEnds, rightEnds] = [a === undefined, b === undefined]
  while ((a !== undefined || leftEnds) && (b !== undefined || rightEnds) && (a !== undefined || b !== undefined)) {
    const order = orderOf(a, b)
    const kind = countOf(order, a, b)
    counts[kind] += 1
    if (kind !== 'unchanged') changes?.add(changeOf(order, a, b))
    if (order <= 0) {
      left.next()
      a = left.row
    }
    if (order >= 0) {
      right.next()
      b = right.row
    }
  }
}

const countOf = (order: number, a: Row | undefined, b: Row | undefined): keyof Counts => {
  if (order !== 0) return order < 0 ? 'added' : 'removed'
  return a?.share === b?.share ? 'unchanged' : 'changed'
}

const changeOf = (order: number, a: Row | undefined, b: Row | undefined): FoundChange => ({
  key: (order <= 0 ? a?.key : b?.key) ?? '',
  ...(order >= 0 && { before: b?.share }),
  ...(order <= 0 && { after: a?.share }),
})

/** Which row comes first: below 0 the left one, above 0 the right one, 0 both. A side that has ended comes last. */
const orderOf = (a: Row | undefined, b: Row | undefined): number => {
  if (a === undefined || b === undefined) return a === undefined ? 1 : -1
  return a.key < b.key ? -1 : b.key < a.key ? 1 : 0
}
