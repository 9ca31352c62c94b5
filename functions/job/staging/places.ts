/** Where a line is; `order` sorts lines of all parts. */
export type Place = { readonly line: number; readonly part: string | undefined; readonly order: number }

/**
 * Lines of a month that comes in several files. Rows are kept under numbers that go on from part to part, so that one number
 * names a line of one file; while a part is read, its lines are its own. Of a single file both are the same.
 */
export class Places {
  readonly #parts: { readonly name: string; readonly base: number }[] = []
  #isReading = false
  #last = 0

  beginPart(name: string): void {
    this.#parts.push({ name, base: this.#last })
    this.#isReading = true
  }

  /** From here on lines are those of rows. */
  endReading(): void {
    this.#isReading = false
  }

  /** The number under which a row of this line is kept. */
  numberOf(line: number): number {
    const number = (this.#parts.at(-1)?.base ?? 0) + line
    this.#last = Math.max(this.#last, number)
    return number
  }

  locate(line: number): Place {
    if (this.#parts.length === 0) return { line, part: undefined, order: line }
    const found = this.#isReading ? this.#parts.at(-1) : this.#parts.findLast(({ base }) => base < line)
    const base = found?.base ?? 0
    const own = this.#isReading ? line : line - base
    return { line: own, part: found?.name, order: base + own }
  }

  /** `line 7`, or `line 7 of b.csv`. */
  textOf(line: number): string {
    const { line: own, part } = this.locate(line)
    return part === undefined ? `line ${own}` : `line ${own} of ${part}`
  }

  /** The part that is being read, for what belongs to no line of it. */
  get current(): string | undefined {
    return this.#isReading ? this.#parts.at(-1)?.name : undefined
  }
}
