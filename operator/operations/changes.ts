import { formatUnits, parseUnits } from '../../functions/contract/manifest.ts'
import { ROW_COLUMNS, VALUE_END } from '../../functions/contract/row-format.ts'
import { CHANGES_SHOWN } from './limits.ts'

/** One row that two sets do not have alike; null: that set has no such row. Shares have six decimals. */
type RowChange = {
  readonly isrc: string
  readonly rightType: string
  readonly party: string
  readonly before: string | null
  readonly after: string | null
  /** `after` minus `before`, with its sign, e.g. `-25.000000`. */
  readonly difference: string
}

/** What all changed rows of one party come to. */
type PartyChange = {
  readonly party: string
  readonly rows: number
  readonly before: string
  readonly after: string
  readonly difference: string
}

/** The largest changes first, at most CHANGES_SHOWN of each kind, and of how many parties any row changed. */
export type Largest = {
  readonly largest: readonly RowChange[]
  readonly parties: readonly PartyChange[]
  readonly partiesChanged: number
}

/** Where all changed rows go to, in the order of their keys. It is waited for before more rows are compared. */
export type ChangeLines = (csv: string) => Promise<void>

/** Who takes the CSV of a comparison: every changed row while it goes on, and every party when it is done. */
export type ChangeSinks = {
  readonly rows?: ChangeLines | undefined
  readonly parties?: ((lines: Iterable<string>) => Promise<void>) | undefined
}

/** What two sets that cannot be compared, or are the same, have to show. */
export const NO_CHANGES: Largest = { largest: [], parties: [], partiesChanged: 0 }

/** One changed row as the comparison finds it: its key in one text, and both shares as they are staged. */
export type FoundChange = {
  readonly key: string
  readonly before?: string | undefined
  readonly after?: string | undefined
}

const KEYS = ROW_COLUMNS.filter((column) => column !== 'share')
export const CHANGES_HEADER = `change,${KEYS.join(',')},share_before,share_after,difference\n`
export const PARTIES_HEADER = 'party_id,rows,share_before,share_after,difference\n'

/** A share is far inside a double's integers, and so is what a party's rows come to; none counts as nothing. */
const unitsOf = (share = '0'): number => Number(parseUnits(share))

const signed = (units: number): string => `${units < 0 ? '-' : ''}${formatUnits(BigInt(Math.abs(units)))}`

const kindOf = ({ before, after }: FoundChange): string =>
  before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'

type Sums = { rows: number; before: number; after: number }
type Weighed = FoundChange & { readonly units: number }

/** The larger change first; of equal ones the lower key, so that two looks at the same sets show the same rows. */
const byWeight = (a: Weighed, b: Weighed): number =>
  Math.abs(b.units) - Math.abs(a.units) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

/**
 * Gathers what a comparison finds. In memory are the largest rows and the sums of each party; every changed row goes on
 * as a line of CSV, where somebody takes them.
 */
export class Changes {
  readonly #take: ChangeLines | undefined
  readonly #parties = new Map<string, Sums>()
  #largest: Weighed[] = []
  #lines: string[] = []

  constructor(take?: ChangeLines) {
    this.#take = take
    if (take !== undefined) this.#lines.push(CHANGES_HEADER)
  }

  add(change: FoundChange): void {
    const [before, after] = [unitsOf(change.before), unitsOf(change.after)]
    const units = after - before
    this.#weigh({ ...change, units })
    const party = change.key.slice(change.key.lastIndexOf(VALUE_END) + 1)
    const sums = this.#parties.get(party) ?? { rows: 0, before: 0, after: 0 }
    sums.rows += 1
    sums.before += before
    sums.after += after
    this.#parties.set(party, sums)
    if (this.#take !== undefined)
      this.#lines.push(
        `${kindOf(change)},${change.key.replaceAll(VALUE_END, ',')},${change.before ?? ''},${change.after ?? ''},${signed(units)}\n`,
      )
  }

  /** Hands on the lines that were gathered: those of one chunk of each set at most. */
  async flush(): Promise<void> {
    if (this.#lines.length === 0) return
    const csv = this.#lines.join('')
    this.#lines = []
    await this.#take?.(csv)
  }

  get summary(): Largest {
    return {
      largest: this.#largest.sort(byWeight).slice(0, CHANGES_SHOWN).map(rowChange),
      parties: this.#sorted().slice(0, CHANGES_SHOWN).map(partyChange),
      partiesChanged: this.#parties.size,
    }
  }

  /** Every party with a changed row, the largest difference first. */
  *partyLines(): Generator<string> {
    yield PARTIES_HEADER
    for (const each of this.#sorted()) {
      const { party, rows, before, after, difference } = partyChange(each)
      yield `${party},${rows},${before},${after},${difference}\n`
    }
  }

  /** Sorted and cut now and then: twice as many as are shown are kept at most. */
  #weigh(change: Weighed): void {
    this.#largest.push(change)
    if (this.#largest.length < CHANGES_SHOWN * 2) return
    this.#largest = this.#largest.sort(byWeight).slice(0, CHANGES_SHOWN)
  }

  #sorted(): [string, Sums][] {
    const weight = ({ before, after }: Sums): number => Math.abs(after - before)
    return [...this.#parties].sort(([a, x], [b, y]) => weight(y) - weight(x) || (a < b ? -1 : 1))
  }
}

const rowChange = ({ key, before, after, units }: Weighed): RowChange => {
  const [isrc = '', rightType = '', party = ''] = key.split(VALUE_END)
  return { isrc, rightType, party, before: before ?? null, after: after ?? null, difference: signed(units) }
}

const partyChange = ([party, { rows, before, after }]: [string, Sums]): PartyChange => ({
  ...{ party, rows, before: signed(before), after: signed(after) },
  difference: signed(after - before),
})
