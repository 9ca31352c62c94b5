import { crc32 } from 'node:zlib'
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl'
import { visible } from '../../../contract/visible.ts'
import { bounded, isBomb, type SizeLimits } from './byte-stream.ts'
import { SourceUnreadable } from './source-unreadable.ts'

const STORED = 0
const DEFLATED = 8

/** Names repeated in a sentence: enough to know the archive by. */
const NAMES_SHOWN = 3

/** A zip archive in memory: the names of its files and their bytes. */
export class ZipArchive {
  readonly #file: ZipFile
  readonly #entries: ReadonlyMap<string, Entry>
  readonly #limits: SizeLimits

  constructor(file: ZipFile, entries: ReadonlyMap<string, Entry>, limits: SizeLimits) {
    this.#file = file
    this.#entries = entries
    this.#limits = limits
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()]
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** The one file of an archive that holds no more; folders and what macOS adds are none. */
  onlyName(): string {
    const [first, ...more] = this.names
    if (first === undefined) throw new SourceUnreadable('zip-empty')
    if (more.length === 0) return first
    const shown = [first, ...more].slice(0, NAMES_SHOWN).map(visible).join(', ')
    const left = more.length + 1 - NAMES_SHOWN
    throw new SourceUnreadable('zip-several', { seen: left > 0 ? `${shown} and ${left} more` : shown })
  }

  /** The bytes of a file, exactly as they were packed: their count and checksum are compared with the directory's. */
  async *read(name: string): AsyncGenerator<Buffer> {
    const entry = this.#entries.get(name)
    if (entry === undefined) throw new SourceUnreadable('zip-damaged', { seen: `no ${visible(name)}` })
    if (entry.isEncrypted()) throw new SourceUnreadable('zip-password')
    if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
      throw new SourceUnreadable('zip-method')
    let unpacked = 0
    let sum = 0
    try {
      const stream = await this.#file.openReadStreamPromise(entry)
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        unpacked += chunk.length
        if (isBomb(entry.compressedSize, unpacked, this.#limits)) throw new SourceUnreadable('zip-expansion')
        sum = crc32(chunk, sum)
        yield chunk
      }
    } catch (error) {
      if (error instanceof SourceUnreadable) throw error
      throw new SourceUnreadable('zip-damaged', { cause: error })
    }
    if (sum !== entry.crc32) throw new SourceUnreadable('zip-damaged', { seen: 'a checksum differs' })
  }
}

/** A folder, or one of the files that macOS puts beside those that were chosen. */
const isNoFile = (name: string): boolean =>
  name.endsWith('/') || name.startsWith('__MACOSX/') || /(^|\/)\.DS_Store$/.test(name)

const entriesOf = async (file: ZipFile, entriesMax: number): Promise<Map<string, Entry>> => {
  const entries = new Map<string, Entry>()
  if (file.entryCount > entriesMax) throw new SourceUnreadable('zip-several', { seen: `${file.entryCount} of them` })
  for await (const entry of file.eachEntry()) {
    if (isNoFile(entry.fileName)) continue
    // Two of one name: which of them is meant would be a guess.
    if (entries.has(entry.fileName)) throw new SourceUnreadable('zip-damaged', { seen: 'a name is there twice' })
    entries.set(entry.fileName, entry)
  }
  return entries
}

/** Reads the archive's directory, which lies at its end: the whole of it is held in memory. */
export const openZip = async (bytes: AsyncIterable<Buffer>, limits: SizeLimits): Promise<ZipArchive> => {
  const pieces: Buffer[] = []
  for await (const piece of bounded(bytes, limits.zipBytesMax, 'zip-bytes')) pieces.push(piece)
  try {
    const file = await fromBufferPromise(Buffer.concat(pieces))
    return new ZipArchive(file, await entriesOf(file, limits.zipEntriesMax), limits)
  } catch (error) {
    if (error instanceof SourceUnreadable) throw error
    const isCutOff = error instanceof Error && /end of central directory/i.test(error.message)
    throw new SourceUnreadable(isCutOff ? 'zip-truncated' : 'zip-damaged', { cause: error })
  }
}
