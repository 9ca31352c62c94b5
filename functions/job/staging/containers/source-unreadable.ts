import { type Refusal, refuse, type SourceRule } from '../../../contract/source-refusals.ts'

/**
 * Thrown where reading a file cannot go on: an undecodable byte, a truncated gzip, a PDF. Caught inside the reading,
 * which knows the line it has come to; it never leaves it.
 */
export class SourceUnreadable extends Error {
  override readonly name = 'SourceUnreadable'
  readonly refusal: Refusal
  /** The row of a sheet to which the reading had come. */
  row: number | null = null

  /** @param seen what was seen in the file, put behind the sentence in brackets */
  constructor(rule: SourceRule, { cause, seen }: { cause?: unknown; seen?: string } = {}) {
    const { message } = refuse(rule, 'the file')
    const refusal = { rule, message: seen === undefined ? message : `${message} (${seen})` }
    super(refusal.message, { cause })
    this.refusal = refusal
  }
}
