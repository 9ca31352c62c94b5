import type { S3Client } from '@aws-sdk/client-s3'
import { Failure } from '../../contract/failures.ts'
import { counted } from '../../contract/numbers.ts'
import { partKey } from '../../contract/parts.ts'
import { descriptorText, parseDescriptor } from './descriptor.ts'
import { listSizes } from './objects.ts'
import { openSource } from './uploaded.ts'

/** Parts that a sentence names; the rest are counted. */
const NAMED_MAX = 5

/**
 * Opens the descriptor of a month in several files, and sees that every part is there.
 *
 * @returns the parts, each opened when its turn comes, and the descriptor's tag
 * @throws Failure SourceMissing (the descriptor, or parts, which it names), InvalidInput, StorageUnreachable
 */
export const openParts = async (s3: S3Client, bucket: string, key: string) => {
  const file = await openSource(s3, bucket, key)
  const { parts } = parseDescriptor(await descriptorText(file.bytes, key), key)
  const there = await listSizes(s3, bucket, partKey(key, ''))
  const missing = parts.map(({ name }) => partKey(key, name)).filter((each) => !there.has(each))
  if (missing.length > 0) {
    const more = missing.length > NAMED_MAX ? `, and ${missing.length - NAMED_MAX} more` : ''
    throw new Failure(
      'SourceMissing',
      `${missing.length} of the ${counted(parts.length, 'part')} that ${key} names ${missing.length === 1 ? 'is' : 'are'} not in the bucket ${bucket}: ${missing.slice(0, NAMED_MAX).join(', ')}${more}. Nothing was changed.`,
    )
  }
  return {
    etag: file.etag,
    parts: parts.map((part) => ({
      ...part,
      open: async () => (await openSource(s3, bucket, partKey(key, part.name))).bytes,
    })),
  }
}
