import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { PutObjectCommand } from '@aws-sdk/client-s3'
import type { Clients } from './clients.ts'
import { calling } from './failures.ts'
import { sizeOf } from './objects.ts'
import { OperationError } from './operation-error.ts'
import { readable } from './validate.ts'

const changed = (path: string, cause?: unknown): OperationError =>
  new OperationError(
    'PlanMoved',
    `The file ${path} has changed since it was checked. Nothing was started; start again to see what it is now.`,
    cause,
  )

/**
 * The bytes of a file, the last of them only once all are known to be those that were checked: a request that lacks
 * them is no object.
 */
async function* checked(path: string, size: number, sha256: string): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let sent = 0
  let held: Buffer | undefined
  for await (const chunk of readable(path)) {
    if (held !== undefined) yield held
    held = chunk
    sent += chunk.length
    if (sent > size) throw changed(path)
    hash.update(chunk)
  }
  if (sent !== size || hash.digest('hex') !== sha256) throw changed(path)
  if (held !== undefined) yield held
}

/**
 * Puts the file at the address made of its content, unless it is there already. S3 checks the digest on arrival too.
 *
 * @param key ends with the SHA-256 of the bytes that were checked
 * @throws OperationError PlanMoved where the file is another one by now
 */
export const upload = async (clients: Clients, path: string, key: string): Promise<void> => {
  const { bucket } = await clients.deployment()
  const { size } = await stat(path).catch((error: unknown) => {
    throw changed(path, error)
  })
  if ((await sizeOf(clients, key)) === size) return
  const sha256 = key.slice(key.lastIndexOf('/') + 1)
  const body = Readable.from(checked(path, size, sha256), { objectMode: false })
  const sending = new AbortController()
  let broken: unknown
  // The SDK does not hear of a body that breaks, and would wait for the rest.
  body.once('error', (error) => {
    broken = error
    sending.abort()
  })
  const put = new PutObjectCommand({
    ...{ Bucket: bucket, Key: key, Body: body, ContentLength: size },
    ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
  })
  await calling('S3', async () => {
    try {
      await clients.s3.send(put, { abortSignal: sending.signal })
    } catch (error) {
      if (broken !== undefined) throw broken
      throw (error as Error).name === 'BadDigest' ? changed(path, error) : error
    } finally {
      body.destroy()
    }
  })
}
