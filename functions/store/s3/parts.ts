import type { S3Client } from '@aws-sdk/client-s3'
import { z } from 'zod'
import { Failure } from '../../contract/failures.ts'
import { counted } from '../../contract/numbers.ts'
import { PARTS_ENDING, PartsDescriptor, partKey } from '../../contract/parts.ts'
import { PARTS_BYTES_MAX } from '../../contract/source-limits.ts'
import { listSizes } from './objects.ts'
import { openSource } from './uploaded.ts'

/** Parts that a sentence names; the rest are counted. */
const NAMED_MAX = 5

/** Whether a key is that of a descriptor. */
export const isPartsKey = (key: string): boolean => key.endsWith(`.${PARTS_ENDING}`)

/**
 * A descriptor from its text.
 *
 * @param name how sentences call it
 * @throws Failure InvalidInput
 */
export const parseDescriptor = (text: string, name: string): PartsDescriptor => {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new Failure('InvalidInput', `The descriptor ${name} is not JSON, so nothing was read.`, { cause: error })
  }
  const { data, error } = PartsDescriptor.safeParse(json)
  if (data !== undefined) return data
  throw new Failure(
    'InvalidInput',
    `The descriptor ${name} does not say what the parts are:\n${z.prettifyError(error)}`,
  )
}

const tooLarge = (name: string): Failure =>
  new Failure('InvalidInput', `The descriptor ${name} is larger than ${PARTS_BYTES_MAX} bytes, so it is none.`)

/** The bytes of a descriptor as text. @throws Failure InvalidInput */
export const descriptorText = async (bytes: AsyncIterable<Buffer>, name: string): Promise<string> => {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of bytes) {
    length += piece.length
    if (length > PARTS_BYTES_MAX) throw tooLarge(name)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

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
