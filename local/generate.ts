import { ROW_COLUMNS } from '../functions/contract/row-format.ts'
/**
 * Deterministic files of shares for tests, benchmarks and demonstrations: the same options give the same bytes on every
 * machine. One association holds more than 80 % of the rows, splits include twelfths, and every sum is accepted under
 * both sum rules. Everything is a stream; no file is held in memory.
 */

export type GenerateOptions = {
  /** Rows of the file, exactly. At most 50 million, so that the ISRCs suffice. */
  readonly rows: number
  readonly seed?: number
  /** Months of one seed are different files. */
  readonly month?: string
  /** `key`: in the order of the primary key. `shuffled`: no two neighbouring tracks, no order within a track. */
  readonly order?: 'key' | 'shuffled'
  /** Members of the large association; the others share a tenth as many. */
  readonly parties?: number
}

type RatioRow = {
  readonly isrc: string
  readonly rightType: string
  readonly party: string
  readonly share: string
}

/** The rows of one track, and what decided them. */
export type Track = { readonly number: number; readonly rows: readonly RatioRow[] }

const RIGHT_TYPES = ['MECHANICAL', 'PERFORMANCE', 'TRANSMISSION'] as const

/** Splits of 100 %, in the six decimals a file has. Twelfths and thirds sum to 100 only within their rounding. */
const SPLITS: readonly (readonly string[])[] = [
  ['100.000000'],
  ['50.000000', '50.000000'],
  ['75.000000', '25.000000'],
  ['62.500000', '37.500000'],
  ['33.333333', '33.333333', '33.333334'],
  ['33.333333', '33.333333', '33.333333'],
  ['41.666667', '41.666667', '16.666667'],
  ['50.000000', '25.000000', '12.500000', '12.500000'],
  ['16.666667', '16.666667', '16.666667', '16.666667', '16.666667', '16.666667'],
  Array.from({ length: 12 }, () => '8.333333'),
]

const ASSOCIATION = 'KOMCA'
const OTHERS = ['FKMP', 'KOSCAP', 'KEPA', 'JASRAC'] as const
/** Of 100 rows, how many belong to the large association. */
const ASSOCIATION_PERCENT = 86

/** Serial numbers of ISRCs: a prime, so that multiplying by STEP visits each once. */
const SERIALS = 99_999_989
const STEP = 61_803_391
const SERIALS_PER_REGISTRANT = 100_000
const REGISTRANTS_FIRST = 10 * 36 * 36

/** A whole number from 0 up to, and without, its argument. */
type Draw = (below: number) => number

/** mulberry32: 32 bits of state, good enough to look unsorted, and the same everywhere. */
const random = (seed: number): Draw => {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

const seedOf = (options: GenerateOptions): number => {
  let hash = options.seed ?? 1
  for (const character of options.month ?? '') hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193)
  return hash
}

/** `KRA012600001`: country, registrant, year 26, serial; ascending in `serial`. */
const isrcOf = (serial: number): string => {
  const registrant = (REGISTRANTS_FIRST + Math.floor(serial / SERIALS_PER_REGISTRANT)).toString(36).toUpperCase()
  return `KR${registrant}26${String(serial % SERIALS_PER_REGISTRANT).padStart(5, '0')}`
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Who holds the shares of one split. */
const holdersOf = (split: readonly string[], members: number, draw: Draw) => {
  const first = draw(members)
  return split.map((share, place) => {
    // 7,919 is prime to the usual numbers of members: no party comes twice within a split.
    const member = (first + place * 7_919) % Math.max(members, split.length)
    const large = draw(100) < ASSOCIATION_PERCENT
    const association = large ? ASSOCIATION : (OTHERS[draw(OTHERS.length)] ?? '')
    const number = large ? member : Math.floor(member / 10) * 12 + place
    return { party: `${association}.${String(number).padStart(7, '0')}`, share }
  })
}

/** The rows of one track, `left` or a few more at most. */
const rowsOf = (isrc: string, left: number, members: number, draw: Draw): RatioRow[] => {
  const rows: RatioRow[] = []
  const types = 1 + draw(RIGHT_TYPES.length)
  for (let type = 0; type < types && rows.length < left; type++) {
    const drawn = SPLITS[draw(SPLITS.length)] ?? []
    // The end of the file takes whole splits, too.
    const split = drawn.length <= left - rows.length ? drawn : (SPLITS[0] ?? [])
    const rightType = RIGHT_TYPES[type] ?? ''
    for (const { party, share } of holdersOf(split, members, draw)) rows.push({ isrc, rightType, party, share })
  }
  return rows
}

/** The tracks of a file, in its order. */
export function* generateTracks(options: GenerateOptions): Generator<Track> {
  const draw = random(seedOf(options))
  const members = options.parties ?? 40_000
  const sorted = (options.order ?? 'shuffled') === 'key'
  let left = options.rows
  for (let number = 0; left > 0; number++) {
    const isrc = isrcOf(sorted ? number * 2 : (number * STEP) % SERIALS)
    const rows = rowsOf(isrc, left, members, draw)
    left -= rows.length
    if (sorted) rows.sort((a, b) => compare(a.rightType, b.rightType) || compare(a.party, b.party))
    else rows.reverse()
    yield { number, rows }
  }
}

/** The distributor's corrected file: of 100 tracks one is gone, one has a new owner, one is new; the rest is as it was. */
export function* correct(tracks: Iterable<Track>): Generator<Track> {
  for (const track of tracks) {
    const first = track.rows[0]
    if (track.number % 100 === 17 || first === undefined) continue
    const owned = track.rows.filter((row) => row.rightType === first.rightType).slice(0, 1)
    const sole = owned.map((row) => ({ ...row, party: `${ASSOCIATION}.CORRECTED`, share: '100.000000' }))
    const others = track.rows.filter((row) => row.rightType !== first.rightType)
    yield track.number % 100 === 42 ? { number: track.number, rows: [...sole, ...others] } : track
    // No other track has the year 27.
    if (track.number % 100 === 71)
      yield {
        number: track.number,
        rows: sole.map((row) => ({ ...row, isrc: `${row.isrc.slice(0, 5)}27${row.isrc.slice(7)}` })),
      }
  }
}

/** A CSV file of the tracks, in pieces of about 64 KB. */
export function* csvOf(tracks: Iterable<Track>): Generator<string> {
  const pieceChars = 65_536
  let piece = `${ROW_COLUMNS.join(',')}\n`
  for (const { rows } of tracks) {
    for (const { isrc, rightType, party, share } of rows) piece += `${isrc},${rightType},${party},${share}\n`
    if (piece.length < pieceChars) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

/** The CSV text of a file, in pieces. */
export const generateRatios = (options: GenerateOptions): Generator<string> => csvOf(generateTracks(options))
