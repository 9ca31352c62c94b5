import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { Failure, isFailure, messageOf } from '../../contract/failures.ts'
import { OBJECT_TRANSFER_MS, STORAGE_STALL_MS } from '../../contract/limits.ts'

type StorageError = Error & { code?: string; $metadata?: { httpStatusCode?: number } }

const THROTTLED = ['SlowDown', 'ThrottlingException', 'RequestTimeout', 'TimeoutError']

/** Whether S3 answered that there is no such object. */
export const isMissing = (error: unknown): boolean => {
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

async function* transferred(
  body: NodeJS.ReadableStream,
  key: string,
  length: number,
  limitMs: number,
): AsyncGenerator<Buffer> {
  const endsAt = performance.now() + limitMs
  const iterator = body[Symbol.asyncIterator]()
  let received = 0
  try {
    for (;;) {
      // Armed only while we wait for S3: what the reader does with a chunk may take as long as it needs.
      const leftMs = endsAt - performance.now()
      const why = leftMs < STORAGE_STALL_MS ? `not whole within ${limitMs} ms` : `silent for ${STORAGE_STALL_MS} ms`
      const stall = setTimeout(
        () => {
          if ('destroy' in body && typeof body.destroy === 'function') body.destroy(new Error(why))
        },
        Math.min(STORAGE_STALL_MS, leftMs),
      )
      const next = await iterator.next().finally(() => clearTimeout(stall))
      if (next.done === true) break
      const chunk = Buffer.isBuffer(next.value) ? next.value : Buffer.from(next.value)
      received += chunk.length
      yield chunk
    }
  } catch (error) {
    throw isFailure(error) ? error : unreachable(key, error)
  } finally {
    await iterator.return?.()
  }
  if (received !== length) throw unreachable(key, new Error(`${received} of ${length} bytes arrived`))
}

/**
 * Opens one object to be read as a stream.
 *
 * @param limitMs for all of its bytes; without one they only may not stall
 * @throws Failure StorageUnreachable; whatever else S3 answers as it is
 */
export const openObject = async (
  s3: S3Client,
  bucket: string,
  key: string,
  limitMs = Number.POSITIVE_INFINITY,
): Promise<OpenObject> => {
  const { Body, ContentLength, ETag } = await request(key, () =>
    s3.send(new GetObjectCommand({ Bucket: bucket, Key: key })),
  )
  if (Body === undefined || ContentLength === undefined) throw unreachable(key, new Error('the answer has no body'))
  const body = Body as NodeJS.ReadableStream
  return { bytes: transferred(body, key, ContentLength, limitMs), length: ContentLength, etag: ETag ?? '' }
}

/** One small object, whole and within OBJECT_TRANSFER_MS. @throws as openObject */
export const readObject = async (s3: S3Client, bucket: string, key: string): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of (await openObject(s3, bucket, key, OBJECT_TRANSFER_MS)).bytes) parts.push(part)
  return Buffer.concat(parts)
}

/** Writes one object. @throws Failure StorageUnreachable */
export const putObject = (
  s3: S3Client,
  bucket: string,
  key: string,
  body: Buffer | string,
  type: string,
): Promise<unknown> =>
  request(key, () => s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, ContentType: type })))

/** One object as a list shows it: its size in bytes, and its ETag, which is of one content. */
export type ListedObject = { readonly key: string; readonly size: number; readonly etag: string }

/** All objects whose keys begin with a prefix, in their order. @throws Failure StorageUnreachable */
export const listObjects = async (s3: S3Client, bucket: string, prefix: string): Promise<ListedObject[]> => {
  const objects: ListedObject[] = []
  let ContinuationToken: string | undefined
  do {
    const page = await request(prefix, () =>
      s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken })),
    )
    for (const { Key: key, Size: size = 0, ETag: etag = '' } of page.Contents ?? [])
      if (key !== undefined) objects.push({ key, size, etag })
    ContinuationToken = page.NextContinuationToken
  } while (ContinuationToken !== undefined)
  return objects
}

/** The sizes in bytes of all objects under a prefix, by key. @throws Failure StorageUnreachable */
export const listSizes = async (s3: S3Client, bucket: string, prefix: string): Promise<Map<string, number>> =>
  new Map((await listObjects(s3, bucket, prefix)).map(({ key, size }) => [key, size]))
