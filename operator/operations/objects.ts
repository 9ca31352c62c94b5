import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import type { Clients } from './clients.ts'
import { calling } from './failures.ts'

/**
 * The size of an object, or null where there is none. Asked by a list: S3 answers "forbidden" to a user who asks for a
 * missing object and may list some prefixes only, as operators may.
 */
export const sizeOf = async ({ s3, deployment }: Clients, key: string): Promise<number | null> => {
  const { bucket } = await deployment()
  const { Contents = [] } = await calling('S3', () =>
    // A key comes before all others that begin with it.
    s3.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: key, MaxKeys: 1 })),
  )
  return Contents[0]?.Key === key ? (Contents[0].Size ?? 0) : null
}
