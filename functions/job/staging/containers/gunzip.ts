import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { isBomb, type SizeLimits } from './byte-stream.ts'
import { SourceUnreadable } from './source-unreadable.ts'

/** Several members are one file; one that is cut off or damaged is refused, never read as far as it goes. */
export async function* gunzipped(bytes: AsyncIterable<Buffer>, limits: SizeLimits): AsyncGenerator<Buffer> {
  let given = 0
  let unpacked = 0
  const counted = async function* () {
    for await (const chunk of bytes) {
      given += chunk.length
      yield chunk
    }
  }
  const source = Readable.from(counted(), { objectMode: false })
  const gunzip = createGunzip()
  let failure: Error | undefined
  // An error of the source itself (storage, limits) is no fault of the gzip file and passes through unchanged.
  source.on('error', (error) => {
    failure = error
    gunzip.destroy(error)
  })
  source.pipe(gunzip)
  try {
    for await (const chunk of gunzip) {
      unpacked += chunk.length
      if (isBomb(given, unpacked, limits)) throw new SourceUnreadable('gzip-expansion')
      yield chunk
    }
    // A zero byte behind a member counts as padding for Node, which then drops whatever follows without a word.
    if (gunzip.bytesWritten < given) throw new Error(`unpacking ended after ${gunzip.bytesWritten} of ${given} bytes`)
  } catch (error) {
    if (failure !== undefined) throw failure
    if (error instanceof SourceUnreadable) throw error
    const cutOff = error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR'
    throw new SourceUnreadable(cutOff ? 'gzip-truncated' : 'gzip-damaged', { cause: error })
  } finally {
    source.destroy()
  }
}
