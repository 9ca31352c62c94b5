import { CELL_CHARS_MAX } from '../../../contract/source-limits.ts'
import { SourceUnreadable } from '../containers/source-unreadable.ts'
import { walkXml } from './xml.ts'

export type StringLimits = { readonly sharedStringsMax: number; readonly sharedStringsBytesMax: number }

const STRINGS_INITIAL = 1_024
const BYTES_INITIAL = 65_536

/**
 * The texts that the cells of a workbook point to, packed into one buffer: millions of JavaScript strings would take
 * several times as much.
 */
export class SharedStrings {
  count = 0
  #bytes = Buffer.alloc(BYTES_INITIAL)
  #length = 0
  #ends = new Uint32Array(STRINGS_INITIAL)
  readonly #limits: StringLimits

  constructor(limits: StringLimits) {
    this.#limits = limits
  }

  add(text: string): void {
    const length = Buffer.byteLength(text)
    const { sharedStringsMax, sharedStringsBytesMax } = this.#limits
    if (this.count === sharedStringsMax || this.#length + length > sharedStringsBytesMax)
      throw new SourceUnreadable('sheet-strings')
    this.#makeRoom(length)
    this.#length += this.#bytes.write(text, this.#length)
    this.#ends[this.count] = this.#length
    this.count += 1
  }

  /** The text of that number; undefined where there is none. */
  at(index: number): string | undefined {
    if (!Number.isInteger(index) || index < 0 || index >= this.count) return undefined
    return this.#bytes.toString('utf8', index === 0 ? 0 : this.#ends[index - 1], this.#ends[index])
  }

  #makeRoom(length: number): void {
    if (this.count === this.#ends.length) {
      const ends = new Uint32Array(this.#ends.length * 2)
      ends.set(this.#ends)
      this.#ends = ends
    }
    if (this.#length + length <= this.#bytes.length) return
    const bytes = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#length + length))
    this.#bytes.copy(bytes, 0, 0, this.#length)
    this.#bytes = bytes
  }
}

/** A text that comes in pieces: as long as Excel lets a cell be, and no longer. */
export class CellText {
  text = ''

  add(piece: string): void {
    this.text += piece
    if (this.text.length > CELL_CHARS_MAX) throw new SourceUnreadable('sheet-damaged', { seen: 'an endless text' })
  }

  take(): string {
    const { text } = this
    this.text = ''
    return text
  }
}

/** Reads the table of shared strings: of a text in several formats all runs, of one with a reading aid not the aid. */
export const readSharedStrings = async (bytes: AsyncIterable<Buffer>, limits: StringLimits): Promise<SharedStrings> => {
  const strings = new SharedStrings(limits)
  const text = new CellText()
  let inText = false
  let inPhonetic = false
  await walkXml(bytes, {
    onOpen: (name) => {
      if (name === 'rPh') inPhonetic = true
      else if (name === 't') inText = !inPhonetic
    },
    onText: (piece) => {
      if (inText) text.add(piece)
    },
    onClose: (name) => {
      if (name === 't') inText = false
      else if (name === 'rPh') inPhonetic = false
      else if (name === 'si') strings.add(text.take())
    },
  })
  return strings
}
