import { headerName, Profile, profileDocument } from '../../../functions/contract/profile.ts'
import { isRefusal, readIsrc } from '../../../functions/contract/source-values.ts'
import { OperationError } from '../operation-error.ts'
import type { Named, Proposal, SampleOptions } from '../proposal.ts'
import { type Places, placesOf } from './columns.ts'
import { type OpenBytes, type SampleRecord, takeSample } from './sample.ts'
import { formOfShares } from './shares.ts'

const hasIsrc = ({ fields }: SampleRecord): boolean => fields.some((field) => !isRefusal(readIsrc(field)))

/** The header is the last record before the first one that has an ISRC. */
const headerOf = (first: readonly SampleRecord[]): number => {
  const data = first.findIndex(hasIsrc)
  if (data > 0) return data - 1
  const problem =
    data < 0 ? 'no row has an ISRC' : `its first row, line ${first[0]?.line}, is no header but has an ISRC`
  throw new OperationError('Rejected', `No profile can be proposed: ${problem}.`)
}

/** How many of the last records have no ISRC in its column. */
const rowsAfter = (last: readonly SampleRecord[], { isrc }: Places): number => {
  const data = last.findLastIndex(({ fields }) => !isRefusal(readIsrc(fields[isrc] ?? '')))
  return data < 0 ? 0 : last.length - 1 - data
}

/**
 * Proposes a profile for files like this one. It is a guess that a person looks at once, so that no file is guessed at
 * later.
 *
 * @throws OperationError Rejected where the file does not tell, Usage where a column that is named is not there
 */
export const propose = async (open: OpenBytes, options: SampleOptions, named: Named): Promise<Proposal> => {
  const { format, first, last } = await takeSample(open, options)
  const headerAt = headerOf(first)
  const { fields: header = [], line = 0 } = first[headerAt] ?? {}
  const after = first.slice(headerAt + 1)
  const rows = after.filter(hasIsrc)
  const places = placesOf(header, rows, named)
  const share = formOfShares(rows, places)
  const nameAt = (place: number): string => (header[place] ?? '').trim()
  const rightType = places.right_type === undefined ? { constant: named.rightType ?? '' } : [nameAt(places.right_type)]
  const rowsAfterData = rowsAfter(last, places)
  const written = {
    format,
    encoding: options.encoding,
    rowsBeforeHeader: headerAt,
    columns: canonicalNames({
      isrc: [nameAt(places.isrc)],
      right_type: rightType,
      party_id: [nameAt(places.party_id)],
      share: [nameAt(places.share)],
    }),
    rowsAfterData,
    decimalSign: share.decimalSign,
    shareUnit: share.shareUnit,
  }
  const { data, error } = Profile.safeParse(written)
  if (data === undefined)
    throw new OperationError('Rejected', `No profile can be proposed: ${error.issues[0]?.message}.`)
  const names = header.map((name) => name.trim())
  const seen = { format, header: { line, names }, rowsAfterData, share }
  return { profile: data, document: profileDocument(data), seen }
}

type Columns = { readonly [Column in keyof Profile['columns']]: Profile['columns'][Column] }

/** A column that has its canonical name in another case is named as in the canonical file. */
const canonicalNames = (columns: Columns): Columns =>
  Object.fromEntries(
    Object.entries(columns).map(([column, names]) => [
      column,
      Array.isArray(names) && names.length === 1 && headerName(names[0] ?? '') === column ? [column] : names,
    ]),
  ) as Columns
