import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isPartsKey } from '../../functions/store/s3/descriptor.ts'
import type { Judging } from './check-source.ts'
import { calling } from './failures.ts'
import { UPLOAD_BYTES_MAX } from './limits.ts'
import { OperationError } from './operation-error.ts'
import { type Opened, openLocalParts } from './parts.ts'
import { readApart } from './read-apart.ts'
import type { OnRows, Validation } from './start-plan.ts'

/** A file of this machine: its bytes, and their SHA-256 once they have been read to the end. */
export type LocalFile = { readonly bytes: AsyncIterable<Buffer>; readonly sha256: () => Promise<string> }

/** @throws OperationError NotFound, Usage, Rejected (larger than one upload) */
export const openFile = async (path: string): Promise<LocalFile> => {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') throw new OperationError('NotFound', `There is no file ${path}.`, error)
    throw new OperationError('Usage', `The file ${path} cannot be read: ${error.message}.`, error)
  })
  if (!found.isFile()) throw new OperationError('Usage', `${path} is not a file.`)
  if (found.size > UPLOAD_BYTES_MAX)
    throw new OperationError(
      'Rejected',
      `The file ${path} is larger than one upload may be (5 GiB); compress it with gzip.`,
    )
  const hash = createHash('sha256')
  let digest: string | undefined
  const bytes = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of readable(path)) {
      hash.update(chunk)
      yield chunk
    }
    digest = hash.digest('hex')
  }
  // A file that is refused early is not read to its end, and then nobody asks for its digest but the next reader.
  const sha256 = async (): Promise<string> => digest ?? (await digestOf(path))
  return { bytes: bytes(), sha256 }
}

export async function* readable(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 })) yield chunk as Buffer
  } catch (error) {
    throw new OperationError('Usage', `The file ${path} cannot be read: ${(error as Error).message}.`, error)
  }
}

const digestOf = async (path: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const chunk of readable(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** A file of this machine, or the files that a descriptor beside them names. */
const openWhole = async (path: string): Promise<Opened> => {
  const bytesOf = async (each: string) => (await openFile(each)).bytes
  if (!isPartsKey(path)) return { bytes: await bytesOf(path), parts: undefined }
  return await calling('The descriptor', () => openLocalParts(path, bytesOf))
}

/** The file's verdict, without AWS and without a database. */
export const validatePath = async (path: string, judging: Judging, onRows?: OnRows): Promise<Validation> => {
  const { bytes, parts } = await openWhole(path)
  const ending = new AbortController()
  try {
    return (await readApart(bytes, { ...judging, parts }, { onRows, signal: ending.signal })).validation
  } finally {
    ending.abort()
  }
}
