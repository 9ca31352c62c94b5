import type { Rejection, SourceRules } from '../../contract/source-refusals.ts'
import type { ReadOptions } from './read-limits.ts'
import { Reading, type ReadResult, type SourceFacts } from './reading.ts'

export type { ReadOptions } from './read-limits.ts'
export type { ReadResult } from './reading.ts'

/**
 * Reads a distributor's file once, as a stream, and makes the staged source of it or says why not; nothing is written.
 * Steps: unpack, decode to UTF-8, parse CSV (or read a sheet), turn records into the four columns, judge and normalise
 * each row, sort, judge rows together, cut into chunks.
 *
 * @param input the file's bytes, cut anywhere; it is closed in any case
 * @throws only what `input` throws
 */
export const readSource = async (
  input: AsyncIterable<Buffer>,
  rules: SourceRules,
  options: ReadOptions = {},
): Promise<ReadResult> => {
  const reading = new Reading(rules, options)
  await reading.read(input)
  return reading.result()
}

/** What `validateFile` says about a good file. */
type SourceSummary = {
  readonly rows: number
  readonly tracks: number
  readonly parties: number
  readonly shareSum: string
  readonly chunks: number
  readonly digest: string
}

export type Verdict =
  | { readonly accepted: true; readonly facts: SourceFacts; readonly summary: SourceSummary }
  | { readonly accepted: false; readonly facts: SourceFacts; readonly rejection: Rejection }

/** The verdict StageSource would give on a file, without a store: what an operator or a distributor runs beforehand. */
export const validateFile = async (
  input: AsyncIterable<Buffer>,
  rules: SourceRules,
  options: ReadOptions = {},
): Promise<Verdict> => {
  const result = await readSource(input, rules, options)
  if (!result.accepted) return result
  const { rows, tracks, parties, shareSum, digest, chunks } = result.source.manifest
  const summary = { rows, tracks, parties, shareSum, chunks: chunks.length, digest }
  return { accepted: true, facts: result.facts, summary }
}
