import { createHash } from 'node:crypto'
import type { S3Client } from '@aws-sdk/client-s3'
import { Failure } from '../../contract/failures.ts'
import {
  chunkKey,
  type HeldRows,
  heldKey,
  Manifest,
  type ManifestChunk,
  manifestKey,
  stagedPrefix,
} from '../../contract/manifest.ts'
import { isMissing, listSizes, readObject } from './objects.ts'

/** Objects read ahead at a time. One is about 0.7 MB, so this bounds the memory they take. */
const READS_PARALLEL = 4

const LINE_FEED = 10

const sha256 = (body: Buffer): string => createHash('sha256').update(body).digest('hex')

/** @param problem the predicate of the object, e.g. `is missing` */
export const stagedDamaged = (key: string, problem: string, cause?: unknown): Failure =>
  new Failure(
    'StagedSourceDamaged',
    `The staged object ${key} ${problem}. Start the file of that set again: what is missing or damaged is then written anew. \`sharelock doctor\` names the sets, their objects and the command.`,
    { cause },
  )

const readStaged = async (s3: S3Client, bucket: string, key: string): Promise<Buffer> => {
  try {
    return await readObject(s3, bucket, key)
  } catch (error) {
    throw isMissing(error) ? stagedDamaged(key, 'is missing', error) : error
  }
}

const parseManifest = (text: string, digest: string): Manifest => {
  const key = manifestKey(digest)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw stagedDamaged(key, 'is not JSON', error)
  }
  const { data, error } = Manifest.safeParse(json)
  if (data === undefined) throw stagedDamaged(key, 'is not a manifest', error)
  const rows = data.chunks.reduce((sum, chunk) => sum + chunk.rows, 0)
  const numbered = data.chunks.every((chunk, index) => chunk.number === index)
  if (data.digest !== digest || rows !== data.rows || !numbered) throw stagedDamaged(key, 'contradicts itself')
  return data
}

/**
 * The manifest, asked of S3 each time: one that was remembered would hide that it is gone.
 *
 * @throws Failure StagedSourceDamaged (missing, invalid), StorageUnreachable
 */
export const readManifest = async (s3: S3Client, bucket: string, digest: string): Promise<Manifest> =>
  parseManifest((await readStaged(s3, bucket, manifestKey(digest))).toString(), digest)

/**
 * The body of one chunk, checked against the digest it was planned with.
 *
 * @throws Failure StagedSourceDamaged, StorageUnreachable
 */
export const readChunk = async (
  s3: S3Client,
  bucket: string,
  digest: string,
  chunk: Pick<ManifestChunk, 'number' | 'digest'>,
): Promise<Buffer> => {
  const key = chunkKey(digest, chunk.number)
  const body = await readStaged(s3, bucket, key)
  if (sha256(body) === chunk.digest) return body
  throw stagedDamaged(key, 'is not what its manifest promises')
}

/** The rows that were left out, checked as a chunk is. @throws Failure StagedSourceDamaged, StorageUnreachable */
export const readHeld = async (s3: S3Client, bucket: string, digest: string, held: HeldRows): Promise<Buffer> => {
  const key = heldKey(digest)
  const body = await readStaged(s3, bucket, key)
  if (sha256(body) === held.digest && linesIn(body) === held.rows) return body
  throw stagedDamaged(key, 'is not what its manifest promises')
}

const linesIn = (body: Buffer): number => {
  let lines = 0
  for (let at = body.indexOf(LINE_FEED); at >= 0; at = body.indexOf(LINE_FEED, at + 1)) lines += 1
  return lines
}

/**
 * All bodies in order, each checked for its digest and its number of rows. A few are read ahead, in parallel; no request
 * is left behind where the reader stops early.
 *
 * @throws Failure StagedSourceDamaged, StorageUnreachable
 */
export async function* readChunks(s3: S3Client, bucket: string, manifest: Manifest): AsyncGenerator<Buffer> {
  const { digest, chunks } = manifest
  const coming = chunks.values()
  const ahead: { chunk: ManifestChunk; body: Promise<Buffer> }[] = []
  const ask = (): void => {
    const { value: chunk } = coming.next()
    if (chunk === undefined) return
    const body = readChunk(s3, bucket, digest, chunk)
    // Awaited in its turn; until then its failure must not end the process.
    body.catch(() => undefined)
    ahead.push({ chunk, body })
  }
  try {
    for (let count = 0; count < READS_PARALLEL; count++) ask()
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) {
      const body = await next.body
      ask()
      if (linesIn(body) !== next.chunk.rows)
        throw stagedDamaged(chunkKey(digest, next.chunk.number), `has not the ${next.chunk.rows} rows of its manifest`)
      yield body
    }
  } finally {
    await Promise.allSettled(ahead.map(({ body }) => body))
  }
}

/** What is wrong with one staged object. `problem` is its predicate. */
export type Hole = { readonly key: string; readonly problem: string }

/**
 * Every object of a manifest that is not there with its size, by a look at the names: some 1,000 a request.
 *
 * @throws Failure StagedSourceDamaged (of the manifest itself), StorageUnreachable
 */
export const findHoles = async (s3: S3Client, bucket: string, digest: string): Promise<Hole[]> => {
  const sizes = await listSizes(s3, bucket, stagedPrefix(digest))
  if (!sizes.has(manifestKey(digest))) return [{ key: manifestKey(digest), problem: 'is missing' }]
  const { chunks, held } = await readManifest(s3, bucket, digest)
  const objects = chunks.map(({ number, bytes }) => ({ key: chunkKey(digest, number), bytes }))
  if (held !== undefined) objects.push({ key: heldKey(digest), bytes: held.bytes })
  return objects.flatMap(({ key, bytes }): Hole[] => {
    const size = sizes.get(key)
    if (size === bytes) return []
    return [{ key, problem: size === undefined ? 'is missing' : `has ${size} bytes instead of ${bytes}` }]
  })
}

/**
 * Sees that every object of a staged source is there with its size.
 *
 * @throws Failure StagedSourceDamaged (naming the first, and how many there are), StorageUnreachable
 */
export const requireObjects = async (s3: S3Client, bucket: string, digest: string): Promise<void> => {
  const holes = await findHoles(s3, bucket, digest)
  const [first] = holes
  if (first === undefined) return
  const others = holes.length === 1 ? '' : `, and ${holes.length - 1} more of its folder are missing or damaged`
  throw stagedDamaged(first.key, `${first.problem}${others}`)
}
