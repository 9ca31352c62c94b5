import { createHash } from 'node:crypto'
import { formatUnits, type HeldRows } from '../../contract/manifest.ts'
import { HELD_ROWS_MAX, HELD_TRACKS_NAMED } from '../../contract/source-limits.ts'
import { bodyOf } from './cut-chunks.ts'
import type { SortedRows } from './row-table.ts'

/** The rows of a track: from the first, up to the one behind the last. */
type Range = readonly [from: number, to: number]

/** Tracks whose shares exceed 100 and that are left out whole, in the order of the rows. */
export class HeldTracks {
  readonly #ranges: Range[] = []
  #rows = 0
  #isMarked = false

  /** The track that is being looked at is one of them. */
  markTrack(): void {
    this.#isMarked = true
  }

  /** The rows of the track that was looked at. */
  endTrack(from: number, to: number): void {
    if (!this.#isMarked) return
    this.#isMarked = false
    this.#ranges.push([from, to])
    this.#rows += to - from
  }

  /** Whether so many rows are held, or all of them, that the file itself must be wrong. */
  isTooMuchOf(rows: SortedRows): boolean {
    return this.#rows > HELD_ROWS_MAX || (this.#rows > 0 && this.#rows === rows.count)
  }

  get isEmpty(): boolean {
    return this.#rows === 0
  }

  get #indices(): number[] {
    return this.#ranges.flatMap(([from, to]) => Array.from({ length: to - from }, (_, index) => from + index))
  }

  /** The rows that are registered. A track is held whole, so neighbours stay neighbours. */
  without(rows: SortedRows): SortedRows {
    const kept = new Uint32Array(rows.count - this.#rows)
    let length = 0
    let from = 0
    for (const [start, end] of [...this.#ranges, [rows.count, rows.count] as const]) {
      for (let row = from; row < start; row++) kept[length++] = row
      from = end
    }
    const at = (row: number): number => kept[row] as number
    const chosen = chosenRows(rows, kept.length, at)
    const parties = new Set<string>()
    for (let row = 0; row < chosen.count; row++) parties.add(chosen.party(row))
    return { ...chosen, parties: parties.size }
  }

  /** What is held: its lines, as those of a staged object, and what they come to beside the whole file. */
  take(rows: SortedRows): { readonly body: Buffer; readonly held: HeldRows } {
    const indices = this.#indices
    const held = chosenRows(rows, indices.length, (row) => indices[row] as number)
    const body = bodyOf(held, 0, held.count)
    return {
      body,
      held: {
        rows: held.count,
        shareSum: sumOf(held),
        tracks: this.#ranges.length,
        firstTracks: this.#ranges.slice(0, HELD_TRACKS_NAMED).map(([from]) => rows.isrc(from)),
        bytes: body.length,
        digest: createHash('sha256').update(body).digest('hex'),
        file: { rows: rows.count, shareSum: sumOf(rows) },
      },
    }
  }
}

const sumOf = (rows: SortedRows): string => {
  let units = 0
  for (let row = 0; row < rows.count; row++) units += rows.units(row)
  return formatUnits(BigInt(units))
}

/** Some of the rows, whole tracks of them, under numbers of their own. */
const chosenRows = (rows: SortedRows, count: number, at: (row: number) => number): SortedRows => ({
  count,
  parties: rows.parties,
  isrc: (row) => rows.isrc(at(row)),
  rightType: (row) => rows.rightType(at(row)),
  party: (row) => rows.party(at(row)),
  units: (row) => rows.units(at(row)),
  line: (row) => rows.line(at(row)),
  continuesTrack: (row) => row > 0 && rows.continuesTrack(at(row)),
  continuesGroup: (row) => row > 0 && rows.continuesGroup(at(row)),
  repeatsKey: (row) => row > 0 && rows.repeatsKey(at(row)),
})
