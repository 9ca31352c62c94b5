import type { Encoding } from '../../../functions/contract/encodings.ts'
import { Profile } from '../../../functions/contract/profile.ts'
import type { SourceError } from '../../../functions/contract/source-refusals.ts'
import { recordReader } from '../../../functions/job/staging/file-records.ts'
import { READ_LIMITS } from '../../../functions/job/staging/read-limits.ts'
import { EndOfReading } from '../../../functions/job/staging/record-reader.ts'
import type { CellKind } from '../../../functions/job/staging/sheet/cell-value.ts'
import { SourceErrors } from '../../../functions/job/staging/source-errors.ts'
import { unknownFormat } from '../../../functions/job/staging/source-format.ts'
import { OperationError } from '../operation-error.ts'
import type { SampleOptions } from '../proposal.ts'

/** Records that a proposal is made from: enough for what is in every row. */
const FIRST_RECORDS = 1_000
/** Records by which the delimiter is told. */
const TRIED_RECORDS = 100
/** The last records, among which totals are looked for. */
const LAST_RECORDS = 20
/** A file of shares has a track, a party and a share at least. */
const WIDTH_MIN = 3

export type SampleRecord = {
  readonly fields: readonly string[]
  readonly line: number
  readonly kinds: readonly CellKind[] | undefined
}

/** What was seen of a file: how it is read, its first records, and its last ones. */
export type Sample = {
  readonly format: Profile['format']
  readonly first: readonly SampleRecord[]
  readonly last: readonly SampleRecord[]
}

type Records = Omit<Sample, 'format'> & { readonly error: SourceError | undefined }

/** Opens the file again for each time that it is read. */
export type OpenBytes = () => AsyncIterable<Buffer>

const recordsOf = async (
  open: OpenBytes,
  format: Profile['format'],
  encoding: Encoding,
  recordsMax: number,
): Promise<Records> => {
  const first: SampleRecord[] = []
  const last: SampleRecord[] = []
  const errors = new SourceErrors(1, 1)
  const read = recordReader(Profile.parse({ format, encoding }), READ_LIMITS, unknownFormat())
  let count = 0
  await read(open(), errors, (fields, line, kinds) => {
    if (fields.every((field) => field.trim() === '')) return
    count += 1
    if (first.length < FIRST_RECORDS) first.push({ fields, line, kinds })
    last.push({ fields, line, kinds })
    if (last.length > LAST_RECORDS) last.shift()
    if (count >= recordsMax) throw new EndOfReading()
  })
  return { first, last, error: errors.rejection().errors[0] }
}

/** How many of the records have the width that most have, where it is wide enough for a file of shares. */
const agreement = ({ first }: Records): number => {
  const widths = new Map<number, number>()
  for (const { fields } of first) widths.set(fields.length, (widths.get(fields.length) ?? 0) + 1)
  return Math.max(0, ...[...widths].filter(([width]) => width >= WIDTH_MIN).map(([, count]) => count))
}

const TEXTS: readonly Profile['format'][] = [
  { kind: 'csv' },
  { kind: 'tsv' },
  { kind: 'delimited', delimiter: ';' },
  { kind: 'delimited', delimiter: '|' },
]

const refused = (problem: string): OperationError =>
  new OperationError('Rejected', `No profile can be proposed: ${problem}.`)

/** How the file is read: the format under which its records agree best. */
const formatOf = async (open: OpenBytes, { encoding, sheet }: SampleOptions): Promise<Profile['format']> => {
  const tried = []
  for (const format of TEXTS) {
    const records = await recordsOf(open, format, encoding, TRIED_RECORDS)
    if (records.error?.rule === 'xlsx-unexpected') return { kind: 'xlsx', ...(sheet !== undefined && { sheet }) }
    tried.push({ format, records, agreeing: agreement(records) })
  }
  const [best] = tried.toSorted((one, other) => other.agreeing - one.agreeing)
  if (best !== undefined && best.agreeing > 0) return best.format
  const error = best?.records.error
  throw refused(error?.message ?? 'no comma, tab, semicolon or bar separates its values into three columns or more')
}

/**
 * Reads a file to its end, and keeps its beginning and its end.
 *
 * @throws OperationError Rejected where it cannot be read in any way that is known here
 */
export const takeSample = async (open: OpenBytes, options: SampleOptions): Promise<Sample> => {
  const format = await formatOf(open, options)
  const { first, last, error } = await recordsOf(open, format, options.encoding, Number.POSITIVE_INFINITY)
  if (error !== undefined) throw refused(error.line === null ? error.message : `line ${error.line}: ${error.message}`)
  return { format, first, last }
}
