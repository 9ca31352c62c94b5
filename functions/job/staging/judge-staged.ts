import { SOURCE_COLUMNS, type SourceRules } from '../../contract/source-refusals.ts'
import { type ReadOptions, type ReadResult, readSource } from './read-source.ts'

/** The zeros at the end of a staged share, which always has six decimals; the point goes with the last of them. */
const ZEROS_AT_END = /\.?0+$/gm

/**
 * Staged bodies as the CSV file they could have come from. A share is written with the decimals it needs, since the sum
 * rule's tolerance comes from them; a staged value has neither comma nor quote.
 */
export async function* csvOfStaged(bodies: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield Buffer.from(`${SOURCE_COLUMNS.join(',')}\n`)
  for await (const body of bodies)
    yield Buffer.from(body.toString('latin1').replace(ZEROS_AT_END, '').replaceAll('\t', ','), 'latin1')
}

/**
 * Judges a staged source by the distributor's rules of today, exactly as a file: a rule may have changed since it was
 * staged, and rows are always judged by the rules. Line n + 1 of an error is row n of the set. Memory as for a file.
 *
 * @throws only what `bodies` throws
 */
export const judgeStaged = (
  bodies: AsyncIterable<Buffer>,
  rules: SourceRules,
  options: ReadOptions = {},
): Promise<ReadResult> => readSource(csvOfStaged(bodies), rules, options)
