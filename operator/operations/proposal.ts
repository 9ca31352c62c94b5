import type { Encoding } from '../../functions/contract/encodings.ts'
import type { Profile, ShareForm } from '../../functions/contract/profile.ts'
import type { SourceColumn } from '../../functions/contract/source-refusals.ts'

/** How the file is to be read, where it does not tell. */
export type SampleOptions = { readonly encoding: Encoding; readonly sheet?: string | undefined }

/** What people name: the header of a column, or the right type that all rows have. */
export type Named = {
  readonly columns: Partial<Readonly<Record<SourceColumn, string>>>
  readonly rightType: string | undefined
}

/** How shares are written, and by what it was told: the largest, and the middle one of the sums of tracks. */
export type SeenForm = ShareForm & { readonly largest: string; readonly sum: string }

/** What a proposal rests on, as a person can see it in the file. */
export type Seen = {
  readonly format: Profile['format']
  readonly header: { readonly line: number; readonly names: readonly string[] }
  readonly rowsAfterData: number
  readonly share: SeenForm
}

/** A profile for a person to look at. */
export type Proposal = { readonly profile: Profile; readonly document: object; readonly seen: Seen }
