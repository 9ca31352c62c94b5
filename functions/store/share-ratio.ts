import { CHUNK_ROWS_MAX, SCAN_TIMEOUT_MS } from '../contract/limits.ts'
import { BORDER_TRACKS, LINE_END, ROW_COLUMNS, ROW_ORDER, VALUE_END } from '../contract/row-format.ts'
import { monthDate, type Slice, type SlotKey } from '../contract/words.ts'
import type { GuardedTx } from './job/guard.ts'
import type { DeleteRange, LedgerChunk } from './job/ledger.ts'
import type { Param, Reader, Tx } from './mysql/tx.ts'

/*
 * The rows of one slot. Every range ends at a border row at the latest: a range that is read to its end locks the row behind
 * it, and behind the last one that would be another slot's.
 */

const IN_SLOT = 'distributor_id = ? and settlement_month = ? and slot = ?'
/** The rows of a slot without its border rows. */
const BETWEEN = `${IN_SLOT} and isrc > '${BORDER_TRACKS.lowest}' and isrc < '${BORDER_TRACKS.highest}'`
/** Some of them: from a track on, up to another. */
const IN_RANGE = `${BETWEEN} and isrc >= ? and isrc < ?`

const keyOf = ({ distributorId, month, slot }: SlotKey): Param[] => [distributorId, monthDate(month), slot]

/**
 * Writes the border rows of both slots of a slice, where they are not there yet. They stay, so a slice's second job only
 * looks.
 */
export const ensureBorders = async (tx: Tx, { distributorId, month }: Slice): Promise<void> => {
  const rows = ([0, 1] as const).flatMap((slot) =>
    Object.values(BORDER_TRACKS).map((isrc) => [distributorId, monthDate(month), slot, isrc, '', '', '0']),
  )
  const there = await tx.rows(
    `select 1 from share_ratio where distributor_id = ? and settlement_month = ? and slot in (0, 1) and isrc in (?)`,
    [distributorId, monthDate(month), Object.values(BORDER_TRACKS)],
  )
  if (there.length < rows.length) await tx.change('insert ignore into share_ratio values ?', [rows])
}

/**
 * Cuts what the slot holds now into ranges of at most CHUNK_ROWS_MAX rows, between tracks, each with its row count.
 * Together the ranges cover the whole key space of the slot, gaps included, so rows that appear later fall into one of
 * them. Empty slot: no range.
 */
export const planRanges = async (reader: Reader, key: SlotKey): Promise<DeleteRange[]> => {
  const ranges: DeleteRange[] = []
  for (let from = ''; ; ) {
    const before = await trackAfter(reader, key, from, CHUNK_ROWS_MAX)
    const rows = await countRange(reader, key, from, before ?? null)
    if (before === undefined) {
      if (rows > 0 || ranges.length > 0) ranges.push({ from_isrc: from, before_isrc: null, row_count: rows })
      return ranges
    }
    ranges.push({ from_isrc: from, before_isrc: before, row_count: rows })
    from = before
  }
}

const countRange = async (reader: Reader, key: SlotKey, from: string, before: string | null): Promise<number> => {
  const [row] = await reader.rows<{ count: number }>(`select count(*) as count from share_ratio where ${IN_RANGE}`, [
    ...keyOf(key),
    from,
    before ?? BORDER_TRACKS.highest,
  ])
  return row?.count ?? 0
}

/** The track of the `offset`-th row from track `from` on, or the track behind `from` where that one fills a chunk alone. */
const trackAfter = async (reader: Reader, key: SlotKey, from: string, offset: number) => {
  const [at] = await reader.rows<{ isrc: string }>(
    `select isrc from share_ratio where ${BETWEEN} and isrc >= ? order by ${ROW_ORDER} limit 1 offset ?`,
    [...keyOf(key), from, offset],
  )
  if (at === undefined || at.isrc !== from) return at?.isrc
  const [behind] = await reader.rows<{ isrc: string }>(
    `select isrc from share_ratio where ${BETWEEN} and isrc > ? order by ${ROW_ORDER} limit 1`,
    [...keyOf(key), from],
  )
  return behind?.isrc
}

/**
 * Deletes one range of the job's slot.
 *
 * @returns rows deleted
 */
export const deleteRange = async (guarded: GuardedTx<'DELETING'>, chunk: LedgerChunk): Promise<number> => {
  const { affectedRows } = await guarded.change(`delete from share_ratio where ${IN_RANGE}`, [
    ...keyOf(guarded.slotKey),
    chunk.from_isrc,
    chunk.before_isrc ?? BORDER_TRACKS.highest,
  ])
  return affectedRows
}

/**
 * Loads lines of a staged object into the slot of a distributor's id, a month's first day and a slot's number. The product
 * runs it in `loadChunk` only.
 */
export const LOAD_ROWS = `load data local infile 'chunk' into table share_ratio character set ascii
     fields terminated by '${VALUE_END}' escaped by '' lines terminated by '${LINE_END}' (${ROW_COLUMNS.join(', ')})
     set distributor_id = ?, settlement_month = ?, slot = ?`

/**
 * Loads one staged object into the job's slot. LOAD DATA LOCAL behaves like INSERT IGNORE: a duplicate or an overlong value
 * is skipped or cut with a warning only, so the caller compares both numbers and rolls back.
 */
export const loadChunk = async (
  guarded: GuardedTx<'REGISTERING'>,
  body: Buffer,
): Promise<{ rows: number; warnings: number }> => {
  const result = await guarded.load(LOAD_ROWS, keyOf(guarded.slotKey), body)
  return { rows: result.affectedRows, warnings: result.warningStatus }
}

/**
 * True where the job's slot holds no row. A locking read: it waits for a stranger's uncommitted insert instead of
 * overlooking it.
 */
export const isSlotEmpty = async (guarded: GuardedTx<'DELETING'>): Promise<boolean> => {
  const rows = await guarded.rows(
    `select 1 from share_ratio where ${BETWEEN} limit 1 for share`,
    keyOf(guarded.slotKey),
    { timeoutMs: SCAN_TIMEOUT_MS },
  )
  return rows.length === 0
}

/** A slot's row count and exact sum of shares, as decimal text with six decimals. */
export const totalsOf = async (reader: Reader, key: SlotKey): Promise<{ rows: number; shareSum: string }> => {
  const [row] = await reader.rows<{ count: number; total: string | null }>(
    `select count(*) as count, sum(share) as total from share_ratio where ${BETWEEN}`,
    keyOf(key),
    { timeoutMs: SCAN_TIMEOUT_MS },
  )
  return { rows: row?.count ?? 0, shareSum: row?.total ?? '0.000000' }
}
