import type { Rows } from '../../contract/row-format.ts'
import { DISTINCT_VALUES_MAX } from '../../contract/source-limits.ts'
import type { RowValues } from '../../contract/source-values.ts'
import { suspectId } from '../../contract/suspect-ids.ts'
import type { WarningExample, WarningName } from '../../contract/warnings.ts'
import { isrcNumber, isrcText } from './isrc-number.ts'
import { Places } from './places.ts'
import { sortOrder } from './sort-order.ts'

/** Texts numbered in the order of their first appearance. A Map holds at most 2^24: DISTINCT_VALUES_MAX stays below. */
class StringPool {
  #last = { text: '', number: 0 }
  readonly #texts: string[] = []
  readonly #numbers = new Map<string, number>()
  /** The texts that a tool seems to have made: each is looked at once, however many rows have it. */
  readonly suspects = new Map<number, WarningName>()

  get count(): number {
    return this.#texts.length
  }

  numberOf(text: string): number {
    // Neighbouring rows often share their right type.
    if (text === this.#last.text) return this.#last.number
    const known = this.#numbers.get(text)
    const number = known ?? this.#texts.length
    if (known === undefined) {
      this.#numbers.set(text, number)
      this.#texts.push(text)
      const suspect = suspectId(text)
      if (suspect !== undefined) this.suspects.set(number, suspect)
    }
    this.#last = { text, number }
    return number
  }

  /** The texts in byte order, and each number's place in it. ASCII texts compare in code units as they do in bytes. */
  ranked(): { sorted: string[]; ranks: Uint32Array } {
    const texts = this.#texts
    const at = (number: number): string => texts[number] as string
    const order = sortOrder(texts.length, (a, b) => (at(a) < at(b) ? -1 : at(a) > at(b) ? 1 : 0))
    const ranks = new Uint32Array(order.length)
    order.forEach((number, rank) => {
      ranks[number] = rank
    })
    return { sorted: Array.from(order, at), ranks }
  }
}

/** The rows in the order of the table's primary key, numbered from 0. */
export type SortedRows = Rows & {
  readonly count: number
  /** Distinct parties. */
  readonly parties: number
  line(row: number): number
  /** Whether `row` and the row before it have the same track; the same track and right type; the same key. */
  continuesTrack(row: number): boolean
  continuesGroup(row: number): boolean
  repeatsKey(row: number): boolean
}

const ROWS_INITIAL = 1_024

/** Told of each row with an id that a tool seems to have made. */
type OnSuspect = (name: WarningName, example: WarningExample & { readonly line: number }) => void

/**
 * The rows of one file in memory: 32 bytes each, sort included, plus each distinct right type and party once. An object
 * per row would take several times as much, and tens of millions of rows have to fit into one Lambda.
 * Values must be normalised: ASCII without spaces.
 */
export class RowTable {
  count = 0
  /** Of all shares, in millionths. */
  units = 0
  /** The largest number of decimals a share is written with. */
  decimals = 0
  #isrcs = new Float64Array(ROWS_INITIAL)
  #rightTypes = new Uint32Array(ROWS_INITIAL)
  #parties = new Uint32Array(ROWS_INITIAL)
  #units = new Uint32Array(ROWS_INITIAL)
  #lines = new Uint32Array(ROWS_INITIAL)
  readonly #rightTypePool = new StringPool()
  readonly #partyPool = new StringPool()
  readonly #distinctMax: number
  readonly #onSuspect: OnSuspect
  readonly #places: Places

  constructor(
    distinctMax: number = DISTINCT_VALUES_MAX,
    onSuspect: OnSuspect = () => undefined,
    places: Places = new Places(),
  ) {
    this.#distinctMax = distinctMax
    this.#onSuspect = onSuspect
    this.#places = places
  }

  /** The column that has more different values than a file may have; nothing may be added then. */
  get overfull(): 'right_type' | 'party_id' | undefined {
    if (this.#partyPool.count > this.#distinctMax) return 'party_id'
    return this.#rightTypePool.count > this.#distinctMax ? 'right_type' : undefined
  }

  add({ isrc, right_type, party_id, share }: RowValues, line: number): void {
    const row = this.count
    if (row === this.#isrcs.length) this.#grow()
    this.#isrcs[row] = isrcNumber(isrc)
    const rightTypeNumber = this.#rightTypePool.numberOf(right_type)
    const partyNumber = this.#partyPool.numberOf(party_id)
    this.#rightTypes[row] = rightTypeNumber
    this.#parties[row] = partyNumber
    this.#see(this.#rightTypePool, rightTypeNumber, 'right_type', right_type, line)
    this.#see(this.#partyPool, partyNumber, 'party_id', party_id, line)
    this.#units[row] = share.units
    this.#lines[row] = this.#places.numberOf(line)
    this.decimals = Math.max(this.decimals, share.decimals)
    this.units += share.units
    this.count += 1
  }

  #see({ suspects }: StringPool, number: number, field: string, value: string, line: number): void {
    const name = suspects.size === 0 ? undefined : suspects.get(number)
    if (name !== undefined) this.#onSuspect(name, { line, field, value })
  }

  /**
   * The rows by (isrc, right_type, party_id), each in byte order; rows of one key by line. This is the order of MySQL's
   * primary key under `ascii_bin`: that collation pads the shorter value with spaces, and a space is below every
   * character the rules let through, so that here, too, a value comes before its extensions.
   * Called once, after the last row: it works in the memory of the rows.
   */
  sorted(): SortedRows {
    const isrcs = this.#isrcs
    const units = this.#units
    const lines = this.#lines
    const rightTypePool = this.#rightTypePool.ranked()
    const partyPool = this.#partyPool.ranked()
    const rightTypes = this.#ranked(this.#rightTypes, rightTypePool.ranks)
    const parties = this.#ranked(this.#parties, partyPool.ranks)
    const difference = (values: Float64Array | Uint32Array, a: number, b: number): number =>
      (values[a] as number) - (values[b] as number)
    const order = sortOrder(
      this.count,
      (a, b) => difference(isrcs, a, b) || difference(rightTypes, a, b) || difference(parties, a, b),
    )
    const at = (row: number): number => order[row] as number
    const same = (values: Float64Array | Uint32Array, row: number): boolean => values[at(row)] === values[at(row - 1)]
    const continuesTrack = (row: number): boolean => row > 0 && same(isrcs, row)
    const continuesGroup = (row: number): boolean => continuesTrack(row) && same(rightTypes, row)
    return {
      count: this.count,
      parties: partyPool.sorted.length,
      isrc: (row) => isrcText(isrcs[at(row)] as number),
      rightType: (row) => rightTypePool.sorted[rightTypes[at(row)] as number] as string,
      party: (row) => partyPool.sorted[parties[at(row)] as number] as string,
      units: (row) => units[at(row)] as number,
      line: (row) => lines[at(row)] as number,
      continuesTrack,
      continuesGroup,
      repeatsKey: (row) => continuesGroup(row) && same(parties, row),
    }
  }

  /** Replaces each row's text number by the place of the text in the order, in the same memory. */
  #ranked(numbers: Uint32Array, ranks: Uint32Array): Uint32Array {
    for (let row = 0; row < this.count; row++) numbers[row] = ranks[numbers[row] as number] as number
    return numbers
  }

  /** Doubles the arrays. `transfer` frees the old memory at once and not only at the next garbage collection. */
  #grow(): void {
    const length = this.#isrcs.length * 2
    const grown = (values: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> =>
      new Uint32Array(values.buffer.transfer(length * Uint32Array.BYTES_PER_ELEMENT))
    this.#isrcs = new Float64Array(this.#isrcs.buffer.transfer(length * Float64Array.BYTES_PER_ELEMENT))
    this.#rightTypes = grown(this.#rightTypes)
    this.#parties = grown(this.#parties)
    this.#units = grown(this.#units)
    this.#lines = grown(this.#lines)
  }
}
