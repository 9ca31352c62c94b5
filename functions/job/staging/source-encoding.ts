import { isAscii, isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'
import type { Encoding } from '../../contract/encodings.ts'
import { followedBy, splitHead, startsWith } from './containers/byte-stream.ts'
import { SourceUnreadable } from './containers/source-unreadable.ts'
import type { SourceFormat } from './source-format.ts'

/**
 * Decoding to UTF-8, exactly or not at all. Each decoder takes bytes cut anywhere and yields UTF-8 bytes cut between
 * characters; before it throws at an undecodable byte it yields everything before it, so that the line is known.
 *
 * No library decides here which encoding a text has: Node's own `euc-kr` decoder does not know the 8,822 syllables that
 * CP949 adds (such as U+BDC1), and a guess by likelihood would sometimes be wrong.
 */

/** Bytes from the first non-ASCII one on within which a file may still turn out to be CP949. */
const UNDECIDED_BYTES_MAX = 1_048_576

/** With this many characters of three or more UTF-8 bytes a text is UTF-8 and not CP949 that looks like it. */
const LONG_SEQUENCES = 2

/** Enough bytes for every byte order mark. */
const MARK_BYTES = 4

/** Western text is not guessed: any bytes at all are a text in it. */
const NEITHER = 'neither UTF-8 nor CP949; if it is Windows-1252, a profile can name it'

const hexadecimal = (byte: number | undefined): string => `0x${(byte ?? 0).toString(16).padStart(2, '0')}`

const UTF8_BOM = Buffer.from([0xef, 0xbb, 0xbf])
const UTF16LE_BOM = Buffer.from([0xff, 0xfe])
const UTF16BE_BOM = Buffer.from([0xfe, 0xff])
const REPLACEMENT = '\ufffd'
const LONE_SURROGATE = /\p{Surrogate}/u

/** Length of the UTF-8 sequence that a lead byte promises; 0 for a byte that leads none. */
const promisedLength = (lead: number): number => {
  if (lead < 0x80) return 1
  if (lead < 0xc2) return 0
  if (lead < 0xe0) return 2
  if (lead < 0xf0) return 3
  return lead < 0xf5 ? 4 : 0
}

/** The second byte's lowest and highest value, where a lead byte narrows them (Unicode 16, table 3-7). */
const SECOND_LOW: Partial<Record<number, number>> = { 224: 0xa0, 240: 0x90 }
const SECOND_HIGH: Partial<Record<number, number>> = { 237: 0x9f, 244: 0x8f }

/**
 * Length of the UTF-8 sequence that begins at `at`; 0 if it is not well-formed (overlong, a surrogate, a stray byte), -1
 * if the bytes end inside it.
 */
const sequenceLength = (bytes: Buffer, at: number): number => {
  const lead = bytes[at] ?? 0
  const length = promisedLength(lead)
  let low = SECOND_LOW[lead] ?? 0x80
  let high = SECOND_HIGH[lead] ?? 0xbf
  for (let place = 1; place < length; place++) {
    const byte = bytes[at + place]
    if (byte === undefined) return -1
    if (byte < low || byte > high) return 0
    low = 0x80
    high = 0xbf
  }
  return length
}

/** How many of the bytes are whole, well-formed characters, and whether what follows them can never become one. */
const wellFormed = (bytes: Buffer): { end: number; fault: boolean } => {
  if (isUtf8(bytes)) return { end: bytes.length, fault: false }
  let end = 0
  while (end < bytes.length) {
    const length = sequenceLength(bytes, end)
    if (length <= 0) return { end, fault: length === 0 }
    end += length
  }
  return { end, fault: false }
}

async function* utf8(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let cut: Buffer = Buffer.alloc(0)
  for await (const chunk of bytes) {
    const joined = cut.length === 0 ? chunk : Buffer.concat([cut, chunk])
    const { end, fault } = wellFormed(joined)
    cut = joined.subarray(end)
    yield joined.subarray(0, end)
    if (fault) throw new SourceUnreadable('encoding', { seen: `UTF-8 but for a byte ${hexadecimal(cut[0])}` })
  }
  if (cut.length > 0) throw new SourceUnreadable('encoding', { seen: 'UTF-8 that ends inside a character' })
}

/** Where the last whole character of UTF-16 ends: a half unit and a high surrogate alone wait for the next bytes. */
const wholeUnits = (bytes: Buffer, swapped: boolean): number => {
  const end = bytes.length - (bytes.length % 2)
  const lastHigh = bytes[swapped ? end - 2 : end - 1] ?? 0
  return end > 0 && lastHigh >= 0xd8 && lastHigh < 0xdc ? end - 2 : end
}

async function* utf16(bytes: AsyncIterable<Buffer>, swapped: boolean): AsyncGenerator<Buffer> {
  let cut: Buffer = Buffer.alloc(0)
  for await (const chunk of bytes) {
    const joined = Buffer.concat([cut, chunk])
    const end = wholeUnits(joined, swapped)
    cut = joined.subarray(end)
    const units = joined.subarray(0, end)
    const text = (swapped ? Buffer.from(units).swap16() : units).toString('utf16le')
    const fault = text.search(LONE_SURROGATE)
    yield Buffer.from(fault < 0 ? text : text.slice(0, fault))
    if (fault >= 0) throw new SourceUnreadable('encoding', { seen: 'UTF-16 with half a character' })
  }
  if (cut.length > 0) throw new SourceUnreadable('encoding', { seen: 'UTF-16 that ends inside a character' })
}

async function* codePage(bytes: AsyncIterable<Buffer>, name: string, seen: string): AsyncGenerator<Buffer> {
  const decoder = iconv.getDecoder(name)
  // No value of a file is U+FFFD, so every one in the result comes from bytes that could not be decoded.
  const exact = (text: string): { known: Buffer; fault: boolean } => {
    const at = text.indexOf(REPLACEMENT)
    return { known: Buffer.from(at < 0 ? text : text.slice(0, at)), fault: at >= 0 }
  }
  for await (const chunk of bytes) {
    const { known, fault } = exact(decoder.write(chunk))
    yield known
    if (fault) throw new SourceUnreadable('encoding', { seen })
  }
  if (exact(decoder.end() ?? '').fault) throw new SourceUnreadable('encoding', { seen })
}

const asciiBytesOf = (bytes: Buffer): number =>
  isAscii(bytes) ? bytes.length : bytes.findIndex((byte) => byte >= 0x80)

/** The bytes of a text from its first non-ASCII one on, held back until they say what they are. */
class Undecided {
  held = Buffer.alloc(0)
  #scanned = 0
  #longSequences = 0

  /** @returns the ASCII bytes that come before everything that is held */
  add(chunk: Buffer): Buffer {
    const asciiBytes = this.held.length > 0 ? 0 : asciiBytesOf(chunk)
    this.held = Buffer.concat([this.held, chunk.subarray(asciiBytes)])
    return chunk.subarray(0, asciiBytes)
  }

  /** @param isWhole no more bytes follow, so a sequence that ends inside is ill-formed */
  decide(isWhole: boolean): 'utf-8' | 'cp949' | undefined {
    while (this.#scanned < this.held.length) {
      const length = sequenceLength(this.held, this.#scanned)
      if (length < 0 && !isWhole) return undefined
      if (length <= 0) return 'cp949'
      if (length >= 3) this.#longSequences += 1
      this.#scanned += length
      if (this.#longSequences === LONG_SEQUENCES || this.#scanned >= UNDECIDED_BYTES_MAX) return 'utf-8'
    }
    return isWhole ? 'utf-8' : undefined
  }
}

/**
 * A text without a byte order mark: ASCII until a byte says otherwise, however late. From there on it is held back
 * until it is UTF-8 for sure, or an ill-formed sequence shows that it is CP949. Once it is UTF-8, a byte that is not is
 * an error: the text mixes encodings, and no decoding of it is exact.
 */
async function* unmarked(bytes: AsyncIterable<Buffer>, format: SourceFormat): AsyncGenerator<Buffer> {
  const iterator = bytes[Symbol.asyncIterator]()
  const rest = { [Symbol.asyncIterator]: () => iterator }
  const undecided = new Undecided()
  let decided: 'utf-8' | 'cp949' | undefined
  try {
    while (decided === undefined) {
      const next = await iterator.next()
      if (next.done !== true) yield undecided.add(next.value)
      else if (undecided.held.length === 0) return
      decided = undecided.decide(next.done === true)
    }
    format.encoding = decided
    const whole = followedBy(undecided.held, rest)
    yield* decided === 'utf-8' ? utf8(whole) : codePage(whole, decided, NEITHER)
  } finally {
    await iterator.return?.()
  }
}

/** What a text begins with that is marked, in the order in which marks are looked for. */
const MARKS = [
  ['utf-8', UTF8_BOM],
  ['utf-16le', UTF16LE_BOM],
  ['utf-16be', UTF16BE_BOM],
] as const

const decoded = (bytes: AsyncIterable<Buffer>, encoding: Exclude<Encoding, 'detected'>): AsyncGenerator<Buffer> => {
  if (encoding === 'utf-8') return utf8(bytes)
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return utf16(bytes, encoding === 'utf-16be')
  return codePage(bytes, encoding, `${encoding} but for some bytes`)
}

/**
 * The text as UTF-8 without a byte order mark, and its encoding in `format`.
 *
 * @param encoding that the profile names; a text that is marked as another one is refused
 */
export async function* utf8Bytes(
  bytes: AsyncIterable<Buffer>,
  format: SourceFormat,
  encoding: Encoding,
): AsyncGenerator<Buffer> {
  const { head, rest } = await splitHead(bytes, MARK_BYTES)
  const [marked, mark = Buffer.alloc(0)] = MARKS.find(([, bom]) => startsWith(head, bom)) ?? []
  if (marked !== undefined && encoding !== 'detected' && encoding !== marked)
    throw new SourceUnreadable('encoding-mark', { seen: `marked as ${marked}, expected as ${encoding}` })
  const named = encoding === 'detected' ? marked : encoding
  if (named !== undefined) {
    format.encoding = named
    yield* decoded(followedBy(head.subarray(mark.length), rest), named)
    return
  }
  yield* unmarked(followedBy(head, rest), format)
}
