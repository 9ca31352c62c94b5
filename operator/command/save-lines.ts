import { createHash } from 'node:crypto'
import { createWriteStream, existsSync } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { OperationError } from '../operations/operation-error.ts'

/** What was written, and the SHA-256 of its bytes as `sha256sum` shows it. */
export type Saved = { readonly output: string | null; readonly bytes: number; readonly sha256: string }

const cannot = (path: string, error: unknown): OperationError => {
  const { code, message } = error as NodeJS.ErrnoException
  return new OperationError(
    'Usage',
    `${path} cannot be written: ${code === 'EEXIST' ? 'it is there already' : message}.`,
  )
}

/** A name that ends so is packed. */
export const isGzip = (path: string | undefined): boolean => path?.endsWith('.gz') === true

/**
 * Writes a stream to a new file of this machine, or to stdout. The file has its name only once all of it is there: what
 * broke off half way is never taken for the whole. One that exists is not replaced.
 *
 * @param path undefined: stdout
 */
export const saveStream = async (
  bytes: AsyncIterable<Buffer | string>,
  path: string | undefined,
  gzip: boolean,
): Promise<Saved> => {
  const hash = createHash('sha256')
  let written = 0
  const watching = new Transform({
    transform(piece: Buffer, _encoding, done) {
      hash.update(piece)
      written += piece.length
      done(null, piece)
    },
  })
  const steps = [
    bytes instanceof Readable ? bytes : Readable.from(bytes, { objectMode: false }),
    ...(gzip ? [createGzip()] : []),
    watching,
  ] as const
  if (path === undefined) await pipeline([...steps, process.stdout], { end: false })
  else await asFile(path, (part) => pipeline([...steps, createWriteStream(part, { flags: 'wx' })]))
  return { output: path ?? null, bytes: written, sha256: hash.digest('hex') }
}

/** A folder that is not there, a full disk: what the file system says has the name of its call. */
const isOfFiles = (error: unknown): boolean =>
  ['open', 'write', 'close'].includes((error as NodeJS.ErrnoException).syscall ?? '')

const asFile = async (path: string, write: (part: string) => Promise<void>): Promise<void> => {
  const part = `${path}.${process.pid}.part`
  // Looked at again when it gets its name; here it spares a long wait.
  if (existsSync(path)) throw cannot(path, { code: 'EEXIST' })
  try {
    await write(part)
    await link(part, path).catch((error: unknown) => {
      throw cannot(path, error)
    })
  } catch (error) {
    throw isOfFiles(error) ? cannot(path, error) : error
  } finally {
    // Where the folder itself is wrong there is nothing to take away, and why was told.
    await rm(part, { force: true }).catch(() => undefined)
  }
}
