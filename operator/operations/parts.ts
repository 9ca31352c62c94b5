import { dirname, join } from 'node:path'
import type { Part } from '../../functions/contract/parts.ts'
import type { OpenPart } from '../../functions/job/staging/read-parts.ts'
import { descriptorText, parseDescriptor } from '../../functions/store/s3/descriptor.ts'
import { PART_END } from './read-apart.ts'

/** A file, or several, as one stream; `parts` where there are several. */
export type Opened = { readonly bytes: AsyncIterable<Buffer>; readonly parts: readonly Part[] | undefined }

/** The bytes of several files, each opened once the one before it was read. */
export async function* inTurn(parts: readonly OpenPart[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    yield* await part.open()
    yield PART_END
  }
}

/**
 * The files that a descriptor of this machine names, in its own folder.
 *
 * @param read opens a file of this machine
 * @throws Failure InvalidInput, and what `read` throws
 */
export const openLocalParts = async (
  path: string,
  read: (path: string) => Promise<AsyncIterable<Buffer>>,
): Promise<Opened> => {
  const { parts } = parseDescriptor(await descriptorText(await read(path), path), path)
  const opened = parts.map((part) => ({ ...part, open: () => read(join(dirname(path), part.name)) }))
  return { bytes: inTurn(opened), parts }
}
