import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Manifest } from '../../functions/contract/manifest.ts'
import type { SourceRules } from '../../functions/contract/source-rules.ts'
import type { StagedSource } from '../../functions/job/stage/cut-chunks.ts'
import { stageSource } from '../../functions/job/stage/stage-source.ts'
import { UPLOAD_BYTES_MAX } from './limits.ts'
import { type OnRows, OperationError, type Validation } from './operations.ts'

/** What reading a file came to; `source` holds its rows where it was accepted. */
export type Reading = { readonly validation: Validation; readonly source: StagedSource | null }

/** Reads a file to its end with the very code of StageSource, and writes nothing. */
export const readSource = async (
  bytes: AsyncIterable<Buffer>,
  rules: SourceRules,
  onRows?: OnRows,
): Promise<Reading> => {
  const result = await stageSource(bytes, rules, { onProgress: onRows })
  const { encoding, compressed: gzip, ignoredColumns } = result.facts
  const facts = { encoding, gzip, ignoredColumns }
  if (!result.accepted)
    return { validation: { accepted: false, ...facts, summary: null, rejection: result.rejection }, source: null }
  const summary = summaryOf(result.source.manifest)
  return { validation: { accepted: true, ...facts, summary, rejection: null }, source: result.source }
}

export const summaryOf = (manifest: Manifest): NonNullable<Validation['summary']> => {
  const { digest, rows, tracks, parties, shareSum, chunks } = manifest
  return { digest, rows, tracks, parties, shareSum, chunks: chunks.length }
}

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

/** The file's verdict, without AWS and without a database. */
export const validatePath = async (path: string, rules: SourceRules, onRows?: OnRows): Promise<Validation> => {
  const { bytes } = await openFile(path)
  return (await readSource(bytes, rules, onRows)).validation
}
