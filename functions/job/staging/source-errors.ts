import {
  type Refusal,
  type Rejection,
  refuse,
  type SourceError,
  type SourceRule,
  shortValue,
} from '../../contract/source-refusals.ts'

/**
 * Thrown where reading a file cannot go on: an undecodable byte, a truncated gzip. Caught inside the reading, which knows
 * the line it has come to; it never leaves it.
 */
export class SourceUnreadable extends Error {
  override readonly name = 'SourceUnreadable'
  readonly refusal: Refusal

  /** @param what is at fault, as the message begins */
  constructor(rule: SourceRule, cause?: unknown, what = 'the file') {
    const refusal = refuse(rule, what)
    super(refusal.message, { cause })
    this.refusal = refusal
  }
}

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
  #kept: SourceError[] = []
  readonly #max: number
  readonly #countedMax: number

  constructor(max: number, countedMax: number) {
    this.#max = max
    this.#countedMax = countedMax
  }

  /** So many that the rest of the file need not be read. */
  get isFull(): boolean {
    return this.total >= this.#countedMax
  }

  add(refusal: Refusal, place: ErrorPosition, value: string): void {
    this.total += 1
    const { line, column = null, field = null } = place
    this.#kept.push({ line, column, field, value: shortValue(value), rule: refusal.rule, message: refusal.message })
    // Sorting once per `max` additions keeps a file full of errors linear.
    if (this.#kept.length >= 2 * this.#max) this.#kept = this.#first()
  }

  rejection(): Rejection {
    return { total: this.total, errors: this.#first(), stoppedAtLine: this.stoppedAtLine }
  }

  #first(): SourceError[] {
    const order = (a: SourceError, b: SourceError): number =>
      (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
    return this.#kept.toSorted(order).slice(0, this.#max)
  }
}
