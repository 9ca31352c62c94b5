import { MIMEType } from 'node:util'

/**
 * Reads a multipart/form-data body (RFC 7578) piece by piece: Node's own `formData()` holds the whole body in memory,
 * and a file may have half a gigabyte.
 */
export class MalformedUpload extends Error {}

/** One field or file. `pieces` has to be read to its end before the next part is asked for. */
export type Part = {
  readonly name: string
  /** Null for a field without a file. */
  readonly filename: string | null
  readonly pieces: AsyncGenerator<Buffer>
}

const HEADER_BYTES_MAX = 4_096

/** The boundary in a Content-Type; null where it is another type or names none. */
export const boundaryOf = (contentType: string | undefined): string | null => {
  try {
    const type = new MIMEType(contentType ?? '')
    return type.essence === 'multipart/form-data' ? type.params.get('boundary') || null : null
  } catch {
    return null
  }
}

/** The text of a part. @throws MalformedUpload past `bytesMax` bytes */
export const textOf = async (pieces: AsyncIterable<Buffer>, bytesMax: number): Promise<string> => {
  const read: Buffer[] = []
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.length
    if (bytes > bytesMax) throw new MalformedUpload(`A part has more than ${bytesMax} bytes`)
    read.push(piece)
  }
  return Buffer.concat(read).toString('utf8')
}

/** @param body is not closed when the reader stops early, so that an answer can still be sent */
export async function* partsOf(body: AsyncIterator<Buffer>, boundary: string): AsyncGenerator<Part> {
  // Every boundary but the first comes after a line break; with one in front they are all alike.
  let rest: Buffer = Buffer.from('\r\n')

  const more = async (): Promise<void> => {
    const { done, value } = await body.next()
    if (done === true) throw new MalformedUpload('The upload ends too early')
    rest = Buffer.concat([rest, value])
  }

  /** Everything before the mark, which is swallowed. */
  async function* until(mark: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = rest.indexOf(mark)
      // Where there is no mark, one may still begin in the last bytes.
      const end = at === -1 ? Math.max(0, rest.length - mark.length + 1) : at
      const piece = rest.subarray(0, end)
      rest = rest.subarray(at === -1 ? end : end + mark.length)
      if (piece.length > 0) yield piece
      if (at !== -1) return
      await more()
    }
  }

  const delimiter = Buffer.from(`\r\n--${boundary}`)
  await textOf(until(delimiter), HEADER_BYTES_MAX)
  for (;;) {
    while (rest.length < 2) await more()
    if (rest.subarray(0, 2).toString() === '--') return
    const header = await textOf(until(Buffer.from('\r\n\r\n')), HEADER_BYTES_MAX)
    const name = /^content-disposition:.*[\s;]name="([^"]*)"/im.exec(header)?.[1]
    if (name === undefined) throw new MalformedUpload('A part of the upload has no name')
    const filename = /^content-disposition:.*[\s;]filename="([^"]*)"/im.exec(header)?.[1] ?? null
    yield { name, filename, pieces: until(delimiter) }
  }
}
