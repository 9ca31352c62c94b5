import { Readable } from 'node:stream'
import type { SourceError, SourceRules } from '../../functions/contract/source-refusals.ts'
import type { WarningPolicy } from '../../functions/job/staging/confirm-warnings.ts'
import { type ReadOptions, type ReadResult, readSource } from '../../functions/job/staging/read-source.ts'

export const AT_MOST: SourceRules = { sumRule: 'at-most', partyScheme: 'opaque' }
export const EXACT: SourceRules = { sumRule: 'exact', partyScheme: 'opaque' }
/** Nobody confirmed anything, and the distributor has no other month. */
export const NO_CONFIRMATION: WarningPolicy = {
  confirmed: [],
  strict: false,
  neighbours: async () => ({ same: [], before: null, wasOpened: false }),
  onUnconfirmed: async () => undefined,
}
export const HEADER = 'isrc,right_type,party_id,share\n'

/** The bytes as a stream, cut where told. */
export const cutAt = (bytes: Buffer, ...places: number[]): Readable => {
  const edges = [0, ...places, bytes.length]
  return Readable.from(edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge)))
}

export const stageText = (
  text: string | Buffer,
  rules: SourceRules = AT_MOST,
  options?: ReadOptions,
): Promise<ReadResult> => readSource(cutAt(Buffer.from(text as string)), rules, options)

/** The staged lines of a file that must be accepted. */
export const linesOf = (result: ReadResult): string => {
  if (!result.accepted) throw new Error(`refused: ${JSON.stringify(result.rejection.errors.slice(0, 3))}`)
  const { manifest, body } = result.source
  return manifest.chunks.map((chunk) => body(chunk.number).toString('latin1')).join('')
}

/** The errors of a file that must be refused. */
export const errorsOf = (result: ReadResult): readonly SourceError[] => {
  if (result.accepted) throw new Error('accepted')
  return result.rejection.errors
}

/** `line:column rule` of each error. */
export const verdictsOf = (result: ReadResult): string[] =>
  errorsOf(result).map(({ line, column, rule }) => `${line ?? '-'}:${column ?? '-'} ${rule}`)
