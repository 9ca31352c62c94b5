import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { chunkKey, Manifest, manifestKey } from '../../functions/contract/manifest.ts'
import type { SourceRules } from '../../functions/contract/source-refusals.ts'
import { readSource } from '../../functions/job/staging/read-source.ts'
import type { Stack } from '../../local/stack.ts'

/** The rules every distributor of the benchmark has. */
export const RULES: SourceRules = { sumRule: 'exact', partyScheme: 'opaque' }

/** The staged objects of a file, in memory, so that who loads them measures MySQL and nothing else. */
export type StagedFile = { readonly manifest: Manifest; readonly bodies: readonly Buffer[] }

/** Stages a file in this process. */
export const stageFile = async (path: string, chunkRowsMax?: number): Promise<StagedFile> => {
  const limits = chunkRowsMax === undefined ? {} : { chunkRowsMax }
  const result = await readSource(createReadStream(path), RULES, { limits })
  if (!result.accepted) throw new Error(`${path}: ${JSON.stringify(result.rejection.errors[0])}`)
  const { manifest, body } = result.source
  return { manifest, bodies: manifest.chunks.map(({ number }) => body(number)) }
}

/** Fetches what a run of Sharelock staged. */
export const fetchStaged = async (stack: Stack, digest: string): Promise<StagedFile> => {
  const s3 = new S3Client({
    region: 'ap-northeast-2',
    endpoint: stack.aws.endpoint,
    forcePathStyle: true,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  const get = async (Key: string): Promise<Buffer> => {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: stack.aws.bucket, Key }))
    return Buffer.from((await Body?.transformToByteArray()) ?? [])
  }
  const manifest = Manifest.parse(JSON.parse((await get(manifestKey(digest))).toString()))
  const bodies: Buffer[] = []
  for (const { number } of manifest.chunks) bodies.push(await get(chunkKey(digest, number)))
  s3.destroy()
  return { manifest, bodies }
}

/** Writes a staged file as one table of all six columns, as loaders take it that cannot set a column themselves. */
export const writeRows = async (path: string, staged: StagedFile, before: string): Promise<void> => {
  await writeFile(path, Buffer.concat(staged.bodies).toString('latin1').replace(/^/gm, before).slice(0, -before.length))
}
