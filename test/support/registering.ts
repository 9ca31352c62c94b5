import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { Redis } from 'ioredis'
import type { ChunkInput } from '../../functions/contract/messages.ts'
import type { Slice } from '../../functions/contract/words.ts'
import { openJob } from '../../functions/job/open-job.ts'
import { readManifest } from '../../functions/store/s3/staged.ts'
import type { AwsServer } from '../../local/servers/aws.ts'
import { planChunks } from './rows.ts'
import { type ShareFile, shareFile, stagedObjects } from './share-file.ts'
import { guarded, opening, testContext } from './test-context.ts'
import { newSlice, type TestDatabase } from './test-database.ts'

/** A job in REGISTERING with its lock, its staged source and its plan: what RegisterChunk finds. */
export type Registering = {
  readonly slice: Slice
  readonly input: ChunkInput
  readonly file: ShareFile
  readonly chunks: number
}

type TestStores = {
  readonly db: TestDatabase
  readonly aws: AwsServer
  readonly valkey: { readonly host: string; readonly port: number }
}

const CHUNK_ROWS = 40

/** @param seed rows of another seed are another file */
export const registering = async ({ db, aws, valkey }: TestStores, seed: number): Promise<Registering> => {
  const slice = await newSlice(db.outside)
  const file = shareFile(120, seed)
  const { digest, objects } = stagedObjects(file, CHUNK_ROWS)
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const s3 = new S3Client({ region: 'ap-northeast-2', endpoint: aws.endpoint, credentials, forcePathStyle: true })
  for (const { key, body } of objects) await s3.send(new PutObjectCommand({ Bucket: aws.bucket, Key: key, Body: body }))
  const manifest = await readManifest(s3, aws.bucket, digest)
  s3.destroy()
  const { rows, shareSum, chunks } = manifest
  const token = `run-${seed}/${digest.slice(0, 8)}`
  const staged = { digest, rows, shareSum, chunks: chunks.length }
  const job = await openJob(testContext(db.connect()), opening(slice, token, null, { staged }))
  await planChunks(db.outside, job.id, chunks)
  await db.outside.change(`update job set state = 'REGISTERING' where id = ?`, [job.id])
  const client = new Redis({ ...valkey, lazyConnect: true })
  await client.set(`{sharelock:${slice.distributor}:${slice.month}}:lock`, token, 'PX', 300_000)
  client.disconnect()
  const { lock: _, ...rest } = guarded(slice, { ...job, state: 'REGISTERING' })
  const input: ChunkInput = { ...rest, lock: { token, held: true }, item: { from: 0, to: chunks.length - 1 } }
  return { slice, input, file, chunks: chunks.length }
}

/** The slice's rows as they are staged, in the order of the key. */
export const linesIn = async ({ outside }: TestDatabase, { distributorId }: Slice): Promise<string[]> => {
  const rows = await outside.rows<{ line: string }>(
    `select concat_ws('\t', isrc, right_type, party_id, share) as line from share_ratio
     where distributor_id = ? and isrc > '' and isrc < '[' order by isrc, right_type, party_id`,
    [distributorId],
  )
  return rows.map(({ line }) => line)
}

/** How many chunks are marked, and how many rows those chunks hold. */
export const markedIn = async ({ outside }: TestDatabase, { input }: Registering) => {
  const [row] = await outside.rows<{ marked: number; all: string }>(
    `select count(*) as marked, coalesce(sum(row_count), 0) as \`all\` from job_chunk
     where job_id = ? and phase = 'register' and marked_at is not null`,
    [input.job.id],
  )
  return { chunks: row?.marked ?? 0, rows: Number(row?.all ?? 0) }
}
