import { type Refusal, type Rejection, type SourceError, shortValue } from '../../contract/source-refusals.ts'
import { Places } from './places.ts'

/** Where an error is; null where it belongs to no single line, column or field. */
export type ErrorPosition = {
  readonly line: number | null
  readonly column?: number | null
  readonly field?: string | null
}

/** The errors of one file: all are counted, the first `max` by line and column are kept. Memory stays bounded. */
export class SourceErrors {
  total = 0
  /** Where reading ended because there were `countedMax` errors; what follows was not judged. */
  stoppedAtLine: number | null = null
  /** The file is a sheet: a line is a row there, and people know a place by its cell. */
  isSheet = false
  #kept: Kept[] = []
  /** Why the file could not be read on; kept however many errors come before it. */
  #end: SourceError | undefined
  readonly places: Places
  readonly #max: number
  readonly #countedMax: number

  /** @param places where lines are, of a month in several files */
  constructor(max: number, countedMax: number, places: Places = new Places()) {
    this.places = places
    this.#max = max
    this.#countedMax = countedMax
  }

  /** So many that the rest of the file need not be read. */
  get isFull(): boolean {
    return this.total >= this.#countedMax
  }

  /** The file was not read to its end: what is said of its rows together would not be true. */
  get isCutShort(): boolean {
    return this.stoppedAtLine !== null || this.#end !== undefined
  }

  /** Adds the reason why the file could not be read on. */
  endAt(refusal: Refusal, line: number | null): void {
    this.total += 1
    const { rule, message } = refusal
    const place = this.#placeOf(line)
    this.#end = { ...place.shown, column: null, field: null, cell: null, value: '', rule, message }
  }

  add(refusal: Refusal, place: ErrorPosition, value: string): void {
    this.total += 1
    const { line, column = null, field = null } = place
    const cell = this.isSheet && line !== null && column !== null ? `${columnLetters(column)}${line}` : null
    const { rule, message } = refusal
    const { shown, order } = this.#placeOf(line)
    this.#kept.push({ order, error: { ...shown, column, field, cell, value: shortValue(value), rule, message } })
    // Sorting once per `max` additions keeps a file full of errors linear.
    if (this.#kept.length >= 2 * this.#max) this.#kept = this.#first()
  }

  rejection(): Rejection {
    const end = this.#end === undefined ? [] : [this.#end]
    const first = this.#first().map(({ error }) => error)
    const errors = [...first.slice(0, this.#max - end.length), ...end]
    return { total: this.total, errors, stoppedAtLine: this.stoppedAtLine }
  }

  /** Where a line is shown: with the part where there are several. */
  #placeOf(line: number | null): { shown: Pick<SourceError, 'line' | 'part'>; order: number } {
    if (line === null) {
      const { current } = this.places
      return { shown: { line, ...(current !== undefined && { part: current }) }, order: 0 }
    }
    const { line: own, part, order } = this.places.locate(line)
    return { shown: { line: own, ...(part !== undefined && { part }) }, order }
  }

  #first(): Kept[] {
    const order = (a: Kept, b: Kept): number => a.order - b.order || (a.error.column ?? 0) - (b.error.column ?? 0)
    return this.#kept.toSorted(order).slice(0, this.#max)
  }
}

type Kept = { readonly order: number; readonly error: SourceError }

const LETTERS = 26
const BEFORE_A = 64

/** A column as a spreadsheet names it: A for 1, AA for 27. */
const columnLetters = (column: number): string => {
  let letters = ''
  for (let left = column; left > 0; left = Math.floor((left - 1) / LETTERS))
    letters = String.fromCharCode(BEFORE_A + 1 + ((left - 1) % LETTERS)) + letters
  return letters
}
