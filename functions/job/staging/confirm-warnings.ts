import { Failure } from '../../contract/failures.ts'
import { quoted } from '../../contract/visible.ts'
import {
  type Neighbours,
  neighbourWarnings,
  unconfirmed,
  type Warning,
  type WarningName,
  warningNames,
} from '../../contract/warnings.ts'
import { type Slice, sliceName } from '../../contract/words.ts'

/** What a start says about warnings, and what is asked to find them. */
export type WarningPolicy = {
  /** Names that somebody confirmed, who saw them. */
  readonly confirmed: readonly WarningName[]
  /** Refuse a file with warnings, confirmed or not. */
  readonly strict: boolean
  readonly neighbours: (digest: string) => Promise<Neighbours>
  /** Told what is refused, before it is. */
  readonly onUnconfirmed: (found: {
    readonly digest: string
    readonly etag: string
    readonly warnings: readonly Warning[]
  }) => Promise<void>
}

/** A set that every rule accepts, and what is odd about it. */
export type Judged = {
  readonly digest: string
  readonly rows: number
  readonly etag: string
  /** How a sentence calls it. */
  readonly name: string
  readonly warnings: readonly Warning[]
  /** Rows were left out of it: its report lists them. */
  readonly hasHeldRows: boolean
}

/**
 * Lets a set through that has no warnings, or none that was not confirmed. Rows that a job of this very slice had before were
 * let through then, so an undo and a resume are not asked again; `strict` asks always.
 * See decisions.md, "A warning is confirmed by its name".
 *
 * @param report writes the report of the warnings, and of what is held. @returns where it is
 * @returns the warnings that were let through
 * @throws Failure WarningsUnconfirmed
 */
export const confirmWarnings = async (
  slice: Slice,
  judged: Judged,
  policy: WarningPolicy,
  report: (warnings: readonly Warning[]) => Promise<string>,
): Promise<readonly Warning[]> => {
  const { digest, rows, etag, name, hasHeldRows } = judged
  const neighbours = await policy.neighbours(digest)
  const warnings = [...judged.warnings, ...neighbourWarnings(rows, neighbours)]
  if (warnings.length === 0) {
    if (hasHeldRows) await report(warnings)
    return warnings
  }
  const where = await report(warnings)
  const refused = policy.strict ? warnings : neighbours.wasOpened ? [] : unconfirmed(warnings, policy.confirmed)
  if (refused.length === 0) return warnings
  await policy.onUnconfirmed({ digest, etag, warnings: refused })
  const why = policy.strict ? 'and this start takes none' : 'and nobody has confirmed them'
  const sentences = refused.map((warning) => `it ${warning.message}${linesOf(warning)}`).join('; ')
  throw new Failure(
    'WarningsUnconfirmed',
    `${sliceName(slice)}: ${name} has warnings, ${why}: ${warningNames(refused)}. Nothing was changed. In words: ${sentences}. The report is ${where}`,
  )
}

const linesOf = ({ examples }: Warning): string => {
  const lines = examples.flatMap(({ line, value }) => (line === null ? [] : [`line ${line} (${quoted(value)})`]))
  return lines.length === 0 ? '' : `, e.g. ${lines.slice(0, 3).join(', ')}`
}
