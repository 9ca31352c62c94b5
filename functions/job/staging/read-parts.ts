import { createHash } from 'node:crypto'
import { formatUnits } from '../../contract/manifest.ts'
import { count } from '../../contract/numbers.ts'
import { type Part, sixDecimals } from '../../contract/parts.ts'
import { refuse, type SourceRules } from '../../contract/source-refusals.ts'
import type { ReadOptions } from './read-limits.ts'
import { Reading, type ReadResult } from './reading.ts'

/** One of several files of a month; `open` is called when its turn comes. */
export type OpenPart = Part & { readonly open: () => Promise<AsyncIterable<Buffer>> }

/**
 * Reads the parts of a month one after another into the same rows: what comes out is what one file of all their rows would
 * give, its digest included. Each part has a header of its own, and must come to the rows and the sum that its descriptor says.
 *
 * @throws only what the parts throw
 */
export const readParts = async (
  parts: readonly OpenPart[],
  rules: SourceRules,
  options: ReadOptions = {},
): Promise<ReadResult> => {
  const reading = new Reading(rules, options)
  const { errors, table, places } = reading
  for (const part of parts) {
    places.beginPart(part.name)
    const before = { errors: errors.total, rows: table.count, units: table.units }
    const file = new WatchedPart(await part.open())
    try {
      await reading.read(file.bytes())
      // Rows that were refused say already why they are missing.
      if (errors.isCutShort || (errors.total > before.errors && !file.isWhole)) break
      if (errors.total > before.errors) continue
      await file.readToEnd()
    } finally {
      await file.close()
    }
    const found = { rows: table.count - before.rows, shareSum: formatUnits(BigInt(table.units - before.units)) }
    const differences = differencesOf(part, found, file.sha256())
    if (differences === '') continue
    const { rule, message } = refuse('part-differs', `the part ${part.name}`)
    errors.add({ rule, message: `${message}: ${differences}` }, { line: null }, '')
  }
  return reading.result()
}

/** The bytes of a part and their SHA-256, which is of all of them: a reader may stop earlier, as that of a workbook does. */
class WatchedPart {
  isWhole = false
  readonly #source: AsyncIterator<Buffer>
  readonly #hash = createHash('sha256')

  constructor(bytes: AsyncIterable<Buffer>) {
    this.#source = bytes[Symbol.asyncIterator]()
  }

  async *bytes(): AsyncGenerator<Buffer> {
    for (let chunk = await this.#next(); chunk !== undefined; chunk = await this.#next()) yield chunk
  }

  async readToEnd(): Promise<void> {
    while (!this.isWhole) await this.#next()
  }

  sha256(): string {
    return this.#hash.digest('hex')
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }

  async #next(): Promise<Buffer | undefined> {
    if (this.isWhole) return undefined
    const { done, value } = await this.#source.next()
    if (done === true) {
      this.isWhole = true
      return undefined
    }
    this.#hash.update(value)
    return value
  }
}

/** What a part is and what it should be, where the two are not the same. */
const differencesOf = (part: Part, found: { rows: number; shareSum: string }, sha256: string): string => {
  const shareSum = sixDecimals(part.shareSum)
  return [
    ...(found.rows === part.rows ? [] : [`it has ${count(found.rows)} rows and not ${count(part.rows)}`]),
    ...(found.shareSum === shareSum ? [] : [`its shares sum to ${found.shareSum} and not to ${shareSum}`]),
    ...(part.sha256 === undefined || part.sha256 === sha256 ? [] : [`its SHA-256 is ${sha256}`]),
  ].join(', ')
}
