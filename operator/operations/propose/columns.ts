import { headerName } from '../../../functions/contract/profile.ts'
import type { SourceColumn } from '../../../functions/contract/source-refusals.ts'
import { isRefusal, readIsrc, readPartyId, readRightType } from '../../../functions/contract/source-values.ts'
import { quoted } from '../../../functions/contract/visible.ts'
import { OperationError } from '../operation-error.ts'
import type { Named } from '../proposal.ts'
import type { SampleRecord } from './sample.ts'

/** A few values of a column may be wrong, and it is that column still. */
const FITTING_SHARE_MIN = 0.9
/** Right types are a handful; what has more different values is something else. */
const RIGHT_TYPES_MAX = 20

/** Where each column is, counted from 0; no right type where every row has the same one. */
export type Places = Readonly<Record<Exclude<SourceColumn, 'right_type'>, number>> & {
  readonly right_type: number | undefined
}

/** Parts of the names under which a column comes, in the languages of the distributors so far. */
const HINTS: Readonly<Record<SourceColumn, RegExp>> = {
  isrc: /isrc/,
  right_type: /right|권리|権利|type|구분|유형/,
  party_id: /party|ipi|payee|member|수취|권리자|회원|신탁|権利者/,
  share: /share|percent|ratio|split|%|지분|배분|비율|持分|分配/,
}

export const NUMBER = /^\d+(?:[.,]\d+)?$/

const fits: Readonly<Record<SourceColumn, (text: string) => boolean>> = {
  isrc: (text) => !isRefusal(readIsrc(text)),
  right_type: (text) => !isRefusal(readRightType(text)) && /[a-z]/i.test(text),
  party_id: (text) => !isRefusal(readPartyId(text, 'opaque')),
  share: (text) => NUMBER.test(text.trim()),
}

const valuesOf = (rows: readonly SampleRecord[], place: number): string[] =>
  rows.map(({ fields }) => fields[place] ?? '').filter((text) => text.trim() !== '')

const isFitting = (column: SourceColumn, rows: readonly SampleRecord[], place: number): boolean => {
  const values = valuesOf(rows, place)
  if (column === 'right_type' && new Set(values).size > RIGHT_TYPES_MAX) return false
  const fitting = values.filter(fits[column]).length
  return fitting > 0 && fitting >= rows.length * FITTING_SHARE_MIN
}

/** The places whose values may be the column's, and among them those whose name says so, if any does. */
const candidates = (
  column: SourceColumn,
  header: readonly string[],
  rows: readonly SampleRecord[],
  taken: readonly number[],
): { readonly fitting: number[]; readonly told: number[] } => {
  const places = header.map((_, place) => place).filter((place) => !taken.includes(place))
  const fitting = places.filter((place) => header[place]?.trim() !== '' && isFitting(column, rows, place))
  const canonical = fitting.filter((place) => headerName(header[place] ?? '') === column)
  const hinted = fitting.filter((place) => HINTS[column].test(headerName(header[place] ?? '')))
  return { fitting, told: canonical.length > 0 ? canonical : hinted }
}

const namedPlace = (column: string, name: string, header: readonly string[]): number => {
  const place = header.findIndex((found) => headerName(found) === headerName(name))
  if (place >= 0) return place
  const found = header.map((each) => quoted(each)).join(', ')
  throw new OperationError('Usage', `The header has no column ${quoted(name)} for ${column}; it has ${found}.`)
}

const namedPlaces = (names: Named['columns'], header: readonly string[]): Partial<Record<SourceColumn, number>> =>
  Object.fromEntries(Object.entries(names).map(([column, name]) => [column, namedPlace(column, name, header)]))

/** The surest first: what an ISRC is no other column is, and a party may be almost anything. */
const ORDER = ['isrc', 'share', 'right_type', 'party_id'] as const satisfies readonly SourceColumn[]

/** Where each column is, as its name and its values tell. @throws OperationError Rejected where they do not */
export const placesOf = (
  header: readonly string[],
  rows: readonly SampleRecord[],
  { columns, rightType }: Named,
): Places => {
  const found = namedPlaces(columns, header)
  const needed = ORDER.filter((column) => column !== 'right_type' || rightType === undefined)
  const look = (column: SourceColumn) => candidates(column, header, rows, Object.values(found))
  // Names first: a party's values may be those of a right type, and the other way round.
  for (const column of needed) {
    const [place, ...others] = found[column] === undefined ? look(column).told : []
    if (place !== undefined && others.length === 0) found[column] = place
  }
  for (const column of needed) {
    if (found[column] !== undefined) continue
    const { told, fitting } = look(column)
    const places = told.length > 0 ? told : fitting
    const [place, ...others] = places
    if (place === undefined || others.length > 0)
      throw undecided(
        column,
        places.map((each) => header[each] ?? ''),
      )
    found[column] = place
  }
  return found as Places
}

const undecided = (column: SourceColumn, names: readonly string[]): OperationError => {
  const seen =
    names.length === 0
      ? `no column looks like ${column}`
      : `several columns may be ${column}: ${names.map((name) => quoted(name)).join(', ')}`
  const constant = column === 'right_type' ? ', or the one that all rows have: --right-type PERFORMANCE' : ''
  return new OperationError(
    'Rejected',
    `No profile can be proposed: ${seen}. Name its column: --column ${column}=NAME${constant}.`,
  )
}
