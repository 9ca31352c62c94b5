import type { Manifest } from '../../functions/contract/manifest.ts'
import type { Part } from '../../functions/contract/parts.ts'
import type { Profile } from '../../functions/contract/profile.ts'
import type { SourceRules } from '../../functions/contract/source-refusals.ts'
import type { StagedSource } from '../../functions/job/staging/cut-chunks.ts'
import { readParts } from '../../functions/job/staging/read-parts.ts'
import { readSource } from '../../functions/job/staging/read-source.ts'
import type { OnRows, Validation } from './start-plan.ts'

/** What reading a file came to; `source` holds its rows where it was accepted. */
type Reading = { readonly validation: Validation; readonly source: StagedSource | null }

/** What a file is read and judged by; without a profile it is the canonical file. */
export type Judging = {
  readonly rules: SourceRules
  readonly profile?: Profile | undefined
  /** The month that the file is for, where it is known: a column that names another one is a warning. */
  readonly month?: string | undefined
  /** What each of several files must be; their bytes come one after another, each ended by PART_END. */
  readonly parts?: readonly Part[] | undefined
}

/** Reads a file, or its parts, to the end with the very code of StageSource, and writes nothing. @param next the bytes of each */
export const checkSource = async (
  next: () => AsyncIterable<Buffer>,
  { rules, profile, month, parts }: Judging,
  onRows?: OnRows,
): Promise<Reading> => {
  const options = { profile, month, onProgress: onRows }
  const result =
    parts === undefined
      ? await readSource(next(), rules, options)
      : await readParts(
          parts.map((part) => ({ ...part, open: async () => next() })),
          rules,
          options,
        )
  const { encoding, compressed: gzip, ignoredColumns } = result.facts
  const facts = { encoding, gzip, ignoredColumns }
  if (!result.accepted)
    return {
      validation: { accepted: false, ...facts, summary: null, rejection: result.rejection, warnings: [] },
      source: null,
    }
  const { source, warnings } = result
  const summary = summaryOf(source.manifest)
  return { validation: { accepted: true, ...facts, summary, rejection: null, warnings }, source }
}

export const summaryOf = (manifest: Manifest): NonNullable<Validation['summary']> => {
  const { digest, rows, tracks, parties, shareSum, chunks, held } = manifest
  return { digest, rows, tracks, parties, shareSum, chunks: chunks.length, ...(held && { held }) }
}
