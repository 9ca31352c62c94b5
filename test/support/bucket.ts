import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { type FauxqsServer, startFauxqs } from 'fauxqs'
import { afterAll, beforeAll } from 'vitest'
import { type Failure, isFailure } from '../../functions/contract/failures.ts'

export const s3ClientOf = (port: number, maxAttempts = 1): S3Client =>
  new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'ap-northeast-2',
    forcePathStyle: true,
    maxAttempts,
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  })

/** A bucket of its own on a server of its own, for the tests of one file. */
export const useBucket = (bucket: string) => {
  let server: FauxqsServer
  let s3: S3Client
  beforeAll(async () => {
    server = await startFauxqs({ port: 0, logger: false })
    server.createBucket(bucket)
    s3 = s3ClientOf(server.port)
  })
  afterAll(async () => {
    s3.destroy()
    await server.stop()
  })
  return {
    s3: (): S3Client => s3,
    put: (key: string, body: string | Buffer): Promise<unknown> =>
      s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body })),
    remove: (key: string): Promise<unknown> => s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key })),
    get: async (key: string): Promise<Buffer> => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }))
      return Buffer.from((await Body?.transformToByteArray()) ?? [])
    },
    keys: async (prefix: string): Promise<(string | undefined)[]> =>
      ((await s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }))).Contents ?? []).map(
        ({ Key }) => Key,
      ),
  }
}

/** The failure that a work ends with; anything else is thrown. */
export const failureOf = async (work: Promise<unknown>): Promise<Failure> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (isFailure(error)) return error
  throw new Error('no failure', { cause: error })
}
