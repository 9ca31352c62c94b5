import { z } from 'zod'
import { Failure } from '../../contract/failures.ts'
import { PARTS_ENDING, PartsDescriptor } from '../../contract/parts.ts'
import { PARTS_BYTES_MAX } from '../../contract/source-limits.ts'

/* Descriptors as such, wherever they lie: who only checks files loads no SDK for them. */

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
