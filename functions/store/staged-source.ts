import { createHash } from 'node:crypto'
import { GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { Failure, isFailure, messageOf } from '../contract/errors.ts'
import { chunkKey, Manifest, type ManifestChunk, manifestKey } from '../contract/manifest.ts'

/** Objects written at a time. Each body is made when its turn comes, so this bounds the memory they take. */
const WRITES_PARALLEL = 4

/** A body that sends nothing for this long is given up: a silent connection would last until Lambda's own timeout. */
const STALL_MS = 30_000

/** A manifest never changes, so a sandbox keeps the last ones. One of a large slice takes about a megabyte. */
const MANIFESTS_KEPT = 4

type StorageError = Error & { code?: string; $metadata?: { httpStatusCode?: number } }

const THROTTLED = ['SlowDown', 'ThrottlingException', 'RequestTimeout', 'TimeoutError']

const isMissing = (error: unknown): boolean => {
  const { name, $metadata } = error as StorageError
  return name !== 'NoSuchBucket' && $metadata?.httpStatusCode === 404
}

/** A network error has no HTTP status but a system code such as ECONNRESET. Refused permissions are no outage. */
const isOutage = (error: unknown): boolean => {
  const { name, code, $metadata } = error as StorageError
  const status = $metadata?.httpStatusCode
  if (status !== undefined && status >= 400) return status >= 500 || status === 429 || THROTTLED.includes(name)
  return THROTTLED.includes(name) || /^E[A-Z_]+$/.test(code ?? '')
}

const unreachable = (key: string, cause: unknown): Failure =>
  new Failure('StorageUnreachable', `S3 did not complete the transfer of ${key}: ${messageOf(cause)}`, { cause })

/** Runs one S3 request; an outage gets its name, every other error stays what it is. */
const request = async <T>(key: string, send: () => Promise<T>): Promise<T> => {
  try {
    return await send()
  } catch (error) {
    throw isOutage(error) ? unreachable(key, error) : error
  }
}

/** An object's bytes as they arrive. `bytes` throws StorageUnreachable if they end early, break off or stop coming. */
export type OpenObject = { readonly bytes: AsyncIterable<Buffer>; readonly length: number; readonly etag: string }

async function* transferred(body: NodeJS.ReadableStream, key: string, length: number): AsyncGenerator<Buffer> {
  const iterator = body[Symbol.asyncIterator]()
  let received = 0
  try {
    for (;;) {
      // Armed only while we wait for S3: what the reader does with a chunk may take as long as it needs.
      const stall = setTimeout(() => {
        if ('destroy' in body && typeof body.destroy === 'function')
          body.destroy(new Error(`silent for ${STALL_MS} ms`))
      }, STALL_MS)
      const next = await iterator.next().finally(() => clearTimeout(stall))
      if (next.done === true) break
      const chunk = Buffer.isBuffer(next.value) ? next.value : Buffer.from(next.value)
      received += chunk.length
      yield chunk
    }
  } catch (error) {
    throw unreachable(key, error)
  } finally {
    await iterator.return?.()
  }
  if (received !== length) throw unreachable(key, new Error(`${received} of ${length} bytes arrived`))
}

const openObject = async (s3: S3Client, bucket: string, key: string): Promise<OpenObject> => {
  const { Body, ContentLength, ETag } = await request(key, () =>
    s3.send(new GetObjectCommand({ Bucket: bucket, Key: key })),
  )
  if (Body === undefined || ContentLength === undefined) throw unreachable(key, new Error('the answer has no body'))
  const body = Body as NodeJS.ReadableStream
  return { bytes: transferred(body, key, ContentLength), length: ContentLength, etag: ETag ?? '' }
}

const readObject = async (s3: S3Client, bucket: string, key: string): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of (await openObject(s3, bucket, key)).bytes) parts.push(part)
  return Buffer.concat(parts)
}

/**
 * Opens the uploaded file. One GetObject answers with one version of the object, so what is read is never a mixture of
 * two uploads; the transfer is not resumed for the same reason.
 *
 * @throws Failure SourceMissing, StorageUnreachable
 */
export const openSource = async (s3: S3Client, bucket: string, key: string): Promise<OpenObject> => {
  try {
    return await openObject(s3, bucket, key)
  } catch (error) {
    if (!isMissing(error)) throw error
    const message = `There is no file ${key} in the bucket ${bucket}; upload it, or name another key.`
    throw new Failure('SourceMissing', message, { cause: error })
  }
}

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

const put = (s3: S3Client, bucket: string, key: string, body: Buffer | string, type: string): Promise<unknown> =>
  request(key, () => s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentType: type })))

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
        await put(s3, bucket, chunkKey(digest, number), body(number), 'text/tab-separated-values')
      } catch (error) {
        for (const _ of numbers);
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: WRITES_PARALLEL }, lane))
  await put(s3, bucket, manifestKey(digest), JSON.stringify(manifest), 'application/json')
}

/** `rejected/<distributor>/<month>/<name>.json`; a repetition of the same execution writes the same key. */
export const rejectKey = (distributor: string, month: string, name: string): string =>
  `rejected/${distributor}/${month}/${name}.json`

/** @throws Failure StorageUnreachable */
export const writeRejectReport = async (s3: S3Client, bucket: string, key: string, report: unknown): Promise<void> => {
  await put(s3, bucket, key, `${JSON.stringify(report, null, 2)}\n`, 'application/json')
}
