import { FRACTION_GROUPS_SHARE, FRACTION_SUM_MAX_UNITS, WARNING_EXAMPLES_MAX } from '../../contract/source-limits.ts'
import { shortValue } from '../../contract/source-refusals.ts'
import { MONTH_COLUMNS, namedMonth } from '../../contract/suspect-ids.ts'
import {
  WARNING_NAMES,
  WARNINGS,
  type Warning,
  type WarningExample,
  type WarningName,
} from '../../contract/warnings.ts'
import { Places } from './places.ts'

type Kept = { readonly order: number; readonly example: WarningExample }
type Found = { count: number; kept: Kept[] }

const byOrder = (a: Kept, b: Kept): number => a.order - b.order

/**
 * The warnings of one file, collected while it is read and sorted: all places are counted, the first by line are kept.
 * Memory stays bounded, and a clean row costs nothing.
 */
export class SourceWarnings {
  readonly #found = new Map<WarningName, Found>()
  readonly #month: string | undefined
  readonly #places: Places
  #groups = 0

  /** @param month the month that the file is registered for, where one is known */
  constructor(month?: string, places: Places = new Places()) {
    this.#month = month
    this.#places = places
  }

  /** A column that names months; where no month is known there is nothing to compare it with. */
  monthColumn(names: readonly string[]): { readonly place: number; readonly name: string } | undefined {
    const place = this.#month === undefined ? -1 : names.findIndex((name) => MONTH_COLUMNS.includes(name))
    return place < 0 ? undefined : { place, name: names[place] ?? '' }
  }

  /** Compares what a row says of its month. */
  seeMonth(value: string, line: number, field: string): void {
    const named = namedMonth(value)
    if (named !== undefined && named !== this.#month) this.add('other-month', { line, field, value })
  }

  /** Looks at the sum of one track and right type. */
  seeSum(units: number, line: number, value: () => string): void {
    this.#groups += 1
    if (units <= FRACTION_SUM_MAX_UNITS) this.add('fractions', { line, field: 'share', value: value() })
  }

  /** Counts one place, whose line is that of the part that is read now, or of a row. */
  add(name: WarningName, { line, field, value }: WarningExample & { readonly line: number }): void {
    const found = this.#found.get(name) ?? { count: 0, kept: [] }
    this.#found.set(name, found)
    found.count += 1
    const { line: own, part, order } = this.#places.locate(line)
    const last = found.kept.at(-1)
    if (found.kept.length === WARNING_EXAMPLES_MAX && last !== undefined && order >= last.order) return
    found.kept.push({
      order,
      example: { line: own, field, value: shortValue(value), ...(part !== undefined && { part }) },
    })
    found.kept.sort(byOrder).splice(WARNING_EXAMPLES_MAX)
  }

  /** Whether most sums are those of fractions. */
  get areFractions(): boolean {
    const { count } = this.#found.get('fractions') ?? { count: 0 }
    return count > 0 && count >= this.#groups * FRACTION_GROUPS_SHARE
  }

  /** In the order of the table. */
  warnings(): Warning[] {
    return WARNING_NAMES.flatMap((name) => {
      const found = this.#found.get(name)
      if (found === undefined || (name === 'fractions' && !this.areFractions)) return []
      const examples = found.kept.map(({ example }) => example)
      return [{ name, count: found.count, message: WARNINGS[name], examples }]
    })
  }
}
