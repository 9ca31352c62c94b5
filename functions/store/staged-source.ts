import { createHash } from 'node:crypto'
import type { S3Client } from '@aws-sdk/client-s3'
import { Failure, isFailure } from '../contract/errors.ts'
import { chunkKey, Manifest, type ManifestChunk, manifestKey } from '../contract/manifest.ts'
import { isMissing, putObject, readObject } from './objects.ts'

/** Objects written at a time. Each body is made when its turn comes, so this bounds the memory they take. */
const WRITES_PARALLEL = 4

/** A manifest never changes, so a sandbox keeps the last ones. One of a large slice takes about a megabyte. */
const MANIFESTS_KEPT = 4

const damaged = (key: string, problem: string, cause?: unknown): Failure =>
  new Failure(
    'StagedSourceDamaged',
    `The staged object ${key} ${problem}. Delete its folder's manifest.json and stage the file again.`,
    { cause },
  )

const readStaged = async (s3: S3Client, bucket: string, key: string): Promise<Buffer> => {
  try {
    return await readObject(s3, bucket, key)
  } catch (error) {
    throw isMissing(error) ? damaged(key, 'is missing', error) : error
  }
}

const parseManifest = (text: string, digest: string): Manifest => {
  const key = manifestKey(digest)
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw damaged(key, 'is not JSON', error)
  }
  const { data, error } = Manifest.safeParse(json)
  if (data === undefined) throw damaged(key, 'is not a manifest', error)
  const rows = data.chunks.reduce((sum, chunk) => sum + chunk.rows, 0)
  const numbered = data.chunks.every((chunk, index) => chunk.number === index)
  if (data.digest !== digest || rows !== data.rows || !numbered) throw damaged(key, 'contradicts itself')
  return data
}

const manifests = new Map<string, Manifest>()

/** @throws Failure StagedSourceDamaged (missing, invalid), StorageUnreachable */
export const readManifest = async (s3: S3Client, bucket: string, digest: string): Promise<Manifest> => {
  const address = `${bucket}/${digest}`
  const kept = manifests.get(address)
  if (kept !== undefined) return kept
  const manifest = parseManifest((await readStaged(s3, bucket, manifestKey(digest))).toString(), digest)
  manifests.set(address, manifest)
  const oldest = manifests.keys().next().value
  if (manifests.size > MANIFESTS_KEPT && oldest !== undefined) manifests.delete(oldest)
  return manifest
}

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
  if (createHash('sha256').update(body).digest('hex') === chunk.digest) return body
  throw damaged(key, 'is not what its manifest promises')
}

/** The manifest is written last, so where it is, the chunks are. Asked of S3 itself: an operator may have deleted it. */
const isWritten = async (s3: S3Client, bucket: string, digest: string): Promise<boolean> => {
  try {
    parseManifest((await readStaged(s3, bucket, manifestKey(digest))).toString(), digest)
    return true
  } catch (error) {
    if (isFailure(error, 'StagedSourceDamaged')) return false
    throw error
  }
}

/**
 * Writes a staged source to its address: the chunks, then the manifest. Nothing if it is there already. Two runs that
 * write the same one at once write the same bytes.
 *
 * @param body the body of the chunk of that number
 * @throws Failure StorageUnreachable
 */
export const writeStaged = async (
  s3: S3Client,
  bucket: string,
  manifest: Manifest,
  body: (number: number) => Buffer,
): Promise<void> => {
  const { digest, chunks } = manifest
  if (await isWritten(s3, bucket, digest)) return
  // The lanes share one iterator; a lane that fails uses it up, so that the others stop.
  const numbers = chunks.keys()
  const lane = async (): Promise<void> => {
    for (const number of numbers) {
      try {
        await putObject(s3, bucket, chunkKey(digest, number), body(number), 'text/tab-separated-values')
      } catch (error) {
        for (const _ of numbers);
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: WRITES_PARALLEL }, lane))
  await putObject(s3, bucket, manifestKey(digest), JSON.stringify(manifest), 'application/json')
}
