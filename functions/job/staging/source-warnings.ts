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

type Found = { count: number; examples: WarningExample[] }

const byLine = (a: WarningExample, b: WarningExample): number => (a.line ?? 0) - (b.line ?? 0)

/**
 * The warnings of one file, collected while it is read and sorted: all places are counted, the first by line are kept.
 * Memory stays bounded, and a clean row costs nothing.
 */
export class SourceWarnings {
  readonly #found = new Map<WarningName, Found>()
  readonly #month: string | undefined
  #groups = 0

  /** @param month the month that the file is registered for, where one is known */
  constructor(month?: string) {
    this.#month = month
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

  add(name: WarningName, example: WarningExample): void {
    const found = this.#found.get(name) ?? { count: 0, examples: [] }
    this.#found.set(name, found)
    found.count += 1
    const last = found.examples.at(-1)
    if (found.examples.length === WARNING_EXAMPLES_MAX && byLine(example, last ?? example) >= 0) return
    found.examples.push({ ...example, value: shortValue(example.value) })
    found.examples.sort(byLine).splice(WARNING_EXAMPLES_MAX)
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
      return [{ name, count: found.count, message: WARNINGS[name], examples: found.examples }]
    })
  }
}
