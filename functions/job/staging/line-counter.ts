const LF = 10
const CR = 13

/** Counts physical lines over bytes cut anywhere: a CR LF is one line break, also where the bytes are cut between. */
export class LineCounter {
  /** The line of the byte after those it has seen. */
  line = 1
  #afterCr = false
  /** Bytes of the current line that came with earlier calls. */
  #begun = 0
  readonly #lineBytesMax: number

  constructor(lineBytesMax: number) {
    this.#lineBytesMax = lineBytesMax
  }

  /**
   * @returns how many of the bytes belong to lines that are not too long; nothing may be counted once that is fewer than
   * there are
   */
  count(bytes: Buffer): number {
    let start = -this.#begun
    // By index: iterating a Buffer takes several times as long, and this sees every byte of the file.
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (byte === CR || byte === LF) {
        if (at - start > this.#lineBytesMax) break
        if (byte === CR || !this.#afterCr) this.line += 1
        start = at + 1
      }
      this.#afterCr = byte === CR
    }
    const end = start + this.#lineBytesMax
    this.#begun = bytes.length - start
    return Math.min(bytes.length, Math.max(0, end))
  }
}

/** Line breaks inside the values of one record. */
export const lineBreaks = (fields: readonly string[]): number => {
  let count = 0
  for (const field of fields) {
    if (field.includes('\n') || field.includes('\r')) count += field.match(/\r\n|\r|\n/g)?.length ?? 0
  }
  return count
}
