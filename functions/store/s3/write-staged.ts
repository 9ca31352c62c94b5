import { isDeepStrictEqual } from 'node:util'
import type { S3Client } from '@aws-sdk/client-s3'
import pMap from 'p-map'
import { isFailure } from '../../contract/failures.ts'
import {
  chunkKey,
  heldKey,
  type Manifest,
  type ManifestChunk,
  manifestKey,
  stagedPrefix,
} from '../../contract/manifest.ts'
import { listSizes, putObject } from './objects.ts'
import { readChunk, readHeld, readManifest } from './staged.ts'

/** Objects checked or written at a time. Each body is made when its turn comes, so this bounds the memory they take. */
const LANES = 4

/** What `ask` reads, or undefined where it is missing or damaged. */
const soundOrNothing = async <T>(ask: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await ask()
  } catch (error) {
    if (isFailure(error, 'StagedSourceDamaged')) return undefined
    throw error
  }
}

/**
 * Writes a staged source to its address: every chunk that is not there with its bytes, then the manifest. A chunk that is
 * there is read and compared, so that staging a file again closes whatever hole its set has. Two runs that write the same
 * one at once write the same bytes.
 *
 * @param body the body of the chunk of that number
 * @throws Failure StorageUnreachable
 */
export const writeStaged = async (
  s3: S3Client,
  bucket: string,
  manifest: Manifest,
  body: (number: number) => Buffer,
  heldBody: Buffer | null = null,
): Promise<void> => {
  const { digest, chunks, held } = manifest
  const sizes = await listSizes(s3, bucket, stagedPrefix(digest))
  const isThere = async (chunk: ManifestChunk): Promise<boolean> =>
    sizes.get(chunkKey(digest, chunk.number)) === chunk.bytes &&
    (await soundOrNothing(() => readChunk(s3, bucket, digest, chunk))) !== undefined
  const write = async (chunk: ManifestChunk): Promise<void> => {
    if (await isThere(chunk)) return
    await putObject(s3, bucket, chunkKey(digest, chunk.number), body(chunk.number), 'text/tab-separated-values')
  }
  // The first that fails keeps the others from being begun.
  await pMap(chunks, write, { concurrency: LANES })
  const isHeldThere =
    held === undefined ||
    (sizes.get(heldKey(digest)) === held.bytes &&
      (await soundOrNothing(() => readHeld(s3, bucket, digest, held))) !== undefined)
  if (!isHeldThere && heldBody !== null)
    await putObject(s3, bucket, heldKey(digest), heldBody, 'text/tab-separated-values')
  const key = manifestKey(digest)
  const written = sizes.has(key) ? await soundOrNothing(() => readManifest(s3, bucket, digest)) : undefined
  if (written !== undefined && isDeepStrictEqual(written, manifest)) return
  await putObject(s3, bucket, key, JSON.stringify(manifest), 'application/json')
}
