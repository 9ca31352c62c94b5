import type { S3Client } from '@aws-sdk/client-s3'
import { Failure } from '../../contract/failures.ts'
import { isMissing, type OpenObject, openObject } from './objects.ts'

/**
 * Opens the uploaded file. One GetObject answers with one version of the object, so what is read is never a mixture of
 * two uploads; the transfer is not resumed for the same reason.
 *
 * @throws Failure SourceMissing, StorageUnreachable
 */
export const openSource = async (s3: S3Client, bucket: string, key: string): Promise<OpenObject> => {
  try {
    return await openObject(s3, bucket, key)
  } catch (error) {
    if (!isMissing(error)) throw error
    const message = `There is no file ${key} in the bucket ${bucket}; upload it, or name another key.`
    throw new Failure('SourceMissing', message, { cause: error })
  }
}
