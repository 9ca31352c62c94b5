import pMap from 'p-map'
import { isFailure } from '../../functions/contract/failures.ts'
import { chunkKey, type Manifest, type ManifestChunk } from '../../functions/contract/manifest.ts'
import type { SourceRules } from '../../functions/contract/source-refusals.ts'
import { csvOfStaged } from '../../functions/job/staging/judge-staged.ts'
import { findHoles, readChunk, readChunks, readManifest, requireObjects } from '../../functions/store/s3/staged.ts'
import { summaryOf } from './check-source.ts'
import type { Clients } from './clients.ts'
import { type RowSet, rowsOfStaged } from './difference.ts'
import { calling } from './failures.ts'
import { CALLS_AT_ONCE } from './limits.ts'
import { type Reading, type ReadingOptions, readApart } from './read-apart.ts'

/*
 * Staged sources as an operator's client reads them. The names are looked at first: S3 answers "forbidden", and not
 * "missing", to a user who asks for an object that is not there and may list some prefixes only, as operators may.
 */

/** The manifest of a set whose objects are all there with their sizes. @throws Failure StagedSourceDamaged */
export const manifestOf = async ({ s3, deployment }: Clients, digest: string): Promise<Manifest> => {
  const { bucket } = await deployment()
  await requireObjects(s3, bucket, digest)
  return await readManifest(s3, bucket, digest)
}

/** The rows of a staged source. @throws Failure StagedSourceDamaged; what S3 answers as it is */
export const rowsOfSet = async (clients: Clients, digest: string): Promise<RowSet> => {
  const { bucket } = await clients.deployment()
  return rowsOfStaged(clients.s3, bucket, await manifestOf(clients, digest))
}

/**
 * Reads a staged source to its end, as StageSource does, and judges it by today's rules.
 *
 * @throws OperationError Rejected where an object is missing or damaged
 */
export const validateSet = async (
  clients: Clients,
  digest: string,
  rules: SourceRules,
  options: ReadingOptions,
): Promise<Reading> => {
  const { bucket } = await clients.deployment()
  return await calling('S3', async () => {
    const manifest = await manifestOf(clients, digest)
    const { validation } = await readApart(csvOfStaged(readChunks(clients.s3, bucket, manifest)), { rules }, options)
    const facts = { encoding: 'staged source', summary: validation.accepted ? summaryOf(manifest) : null }
    const rows = validation.accepted ? rowsOfStaged(clients.s3, bucket, manifest) : null
    return { validation: { ...validation, ...facts }, rows }
  })
}

/** What is wrong with a staged source: a sentence for each object, and the bytes that were read to find it. */
export type SetCheck = { readonly problems: readonly string[]; readonly bytes: number }

/**
 * Finds every object that is missing or has another size and, if none has and the whole set is at most `bytesMax`,
 * every one whose content is not what the manifest promises.
 *
 * @throws OperationError where S3 cannot be asked
 */
export const checkSet = async (clients: Clients, digest: string, bytesMax: number): Promise<SetCheck> =>
  await calling('S3', async () => {
    const { s3, deployment } = clients
    const { bucket } = await deployment()
    try {
      const holes = await findHoles(s3, bucket, digest)
      if (holes.length > 0) return { problems: holes.map(({ key, problem }) => `${key} ${problem}`), bytes: 0 }
      const manifest = await readManifest(s3, bucket, digest)
      const bytes = manifest.chunks.reduce((sum, chunk) => sum + chunk.bytes, 0)
      return bytes > bytesMax ? { problems: [], bytes: 0 } : { problems: await readAll(clients, manifest), bytes }
    } catch (error) {
      if (isFailure(error, 'StagedSourceDamaged')) return { problems: [error.message], bytes: 0 }
      throw error
    }
  })

/** The objects whose content is damaged. */
const readAll = async ({ s3, deployment }: Clients, { digest, chunks }: Manifest): Promise<string[]> => {
  const { bucket } = await deployment()
  const problems: string[] = []
  const read = async (chunk: ManifestChunk): Promise<void> => {
    try {
      await readChunk(s3, bucket, digest, chunk)
    } catch (error) {
      if (!isFailure(error, 'StagedSourceDamaged')) throw error
      problems.push(`${chunkKey(digest, chunk.number)} is not what its manifest promises`)
    }
  }
  await pMap(chunks, read, { concurrency: CALLS_AT_ONCE })
  return problems.sort()
}
