import { CHUNK_ROWS_MAX, SCAN_TIMEOUT_MS } from '../contract/limits.ts'
import { LINE_END, ROW_COLUMNS, ROW_ORDER, VALUE_END } from '../contract/row-format.ts'
import { monthDate, type Slice } from '../contract/words.ts'
import type { GuardedTx } from './job/guard.ts'
import type { DeleteRange, LedgerChunk } from './job/ledger.ts'
import type { Reader } from './mysql/tx.ts'

/**
 * Cuts what the slice holds now into ranges of at most CHUNK_ROWS_MAX rows, between tracks, each with its row count.
 * Together the ranges cover the whole key space of the slice, gaps included, so rows that appear later fall into one of
 * them. Empty slice: no range.
 */
export const planRanges = async (reader: Reader, slice: Slice): Promise<DeleteRange[]> => {
  const ranges: DeleteRange[] = []
  for (let from = ''; ; ) {
    const before = await trackAfter(reader, slice, from, CHUNK_ROWS_MAX)
    const rows = await countRange(reader, slice, from, before ?? null)
    if (before === undefined) {
      if (rows > 0 || ranges.length > 0) ranges.push({ from_isrc: from, before_isrc: null, row_count: rows })
      return ranges
    }
    ranges.push({ from_isrc: from, before_isrc: before, row_count: rows })
    from = before
  }
}

const countRange = async (reader: Reader, slice: Slice, from: string, before: string | null): Promise<number> => {
  const [row] = await reader.rows<{ count: number }>(
    `select count(*) as count from share_ratio
     where distributor_id = ? and settlement_month = ? and isrc >= ? ${before === null ? '' : 'and isrc < ?'}`,
    [slice.distributorId, monthDate(slice.month), from, ...(before === null ? [] : [before])],
  )
  return row?.count ?? 0
}

/** The track of the `offset`-th row from track `from` on, or the track behind `from` where that one fills a chunk alone. */
const trackAfter = async (reader: Reader, slice: Slice, from: string, offset: number) => {
  const key = [slice.distributorId, monthDate(slice.month), from]
  const [at] = await reader.rows<{ isrc: string }>(
    `select isrc from share_ratio where distributor_id = ? and settlement_month = ? and isrc >= ?
     order by ${ROW_ORDER} limit 1 offset ?`,
    [...key, offset],
  )
  if (at === undefined || at.isrc !== from) return at?.isrc
  const [behind] = await reader.rows<{ isrc: string }>(
    `select isrc from share_ratio where distributor_id = ? and settlement_month = ? and isrc > ?
     order by distributor_id, settlement_month, isrc limit 1`,
    key,
  )
  return behind?.isrc
}

/**
 * Deletes one range of the clustered key. A range that is read to its end locks the row behind it, and behind the slice's
 * last range that is the next slice's first row, whatever bound is set on the track: so there the rows are counted, without
 * a lock, and no more than these are read. Rows that a stranger adds in between are found by MarkDeleted.
 *
 * @returns rows deleted
 */
export const deleteRange = async (
  guarded: GuardedTx<'DELETING'>,
  slice: Slice,
  chunk: LedgerChunk,
): Promise<number> => {
  const { from_isrc: from, before_isrc: before } = chunk
  const key = [slice.distributorId, monthDate(slice.month), from]
  const inRange = 'delete from share_ratio where distributor_id = ? and settlement_month = ? and isrc >= ?'
  const result =
    before === null
      ? await guarded.change(`${inRange} order by ${ROW_ORDER} limit ?`, [
          ...key,
          await countRange(guarded, slice, from, null),
        ])
      : await guarded.change(`${inRange} and isrc < ?`, [...key, before])
  return result.affectedRows
}

/**
 * Loads lines of a staged object into the slice of a distributor's id and a month's first day. The product runs it in
 * `loadChunk` only.
 */
export const LOAD_ROWS = `load data local infile 'chunk' into table share_ratio character set ascii
     fields terminated by '${VALUE_END}' escaped by '' lines terminated by '${LINE_END}' (${ROW_COLUMNS.join(', ')})
     set distributor_id = ?, settlement_month = ?`

/**
 * Loads one staged object. LOAD DATA LOCAL behaves like INSERT IGNORE: a duplicate or an overlong value is skipped or
 * cut with a warning only, so the caller compares both numbers and rolls back.
 */
export const loadChunk = async (
  guarded: GuardedTx<'REGISTERING'>,
  slice: Slice,
  body: Buffer,
): Promise<{ rows: number; warnings: number }> => {
  const result = await guarded.load(LOAD_ROWS, [slice.distributorId, monthDate(slice.month)], body)
  return { rows: result.affectedRows, warnings: result.warningStatus }
}

/**
 * True where the slice holds no row. A locking read: it waits for a stranger's uncommitted insert instead of
 * overlooking it.
 */
export const isSliceEmpty = async (reader: Reader, slice: Slice): Promise<boolean> => {
  const rows = await reader.rows(
    'select 1 from share_ratio where distributor_id = ? and settlement_month = ? limit 1 for share',
    [slice.distributorId, monthDate(slice.month)],
    { timeoutMs: SCAN_TIMEOUT_MS },
  )
  return rows.length === 0
}

/** The slice's row count and exact sum of shares, as decimal text with six decimals. */
export const totalsOf = async (reader: Reader, slice: Slice): Promise<{ rows: number; shareSum: string }> => {
  const [row] = await reader.rows<{ count: number; total: string | null }>(
    `select count(*) as count, sum(share) as total from share_ratio where distributor_id = ? and settlement_month = ?`,
    [slice.distributorId, monthDate(slice.month)],
    { timeoutMs: SCAN_TIMEOUT_MS },
  )
  return { rows: row?.count ?? 0, shareSum: row?.total ?? '0.000000' }
}
