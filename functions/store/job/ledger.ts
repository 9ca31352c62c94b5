import type { ManifestChunk } from '../../contract/manifest.ts'
import type { Phase } from '../../contract/words.ts'
import type { Database } from '../mysql/database.ts'

/** A chunk that is still to do. */
export type LedgerChunk = {
  readonly number: number
  /** First track of the chunk. */
  readonly from_isrc: string
  /** First track behind a delete range; null where the range is open to the end, and for register chunks. */
  readonly before_isrc: string | null
  readonly object_digest: string | null
  /** Register: rows of the staged object. Delete: rows when the plan was made. */
  readonly row_count: number
}

/** A key range to delete, before it has a number. */
export type DeleteRange = Pick<LedgerChunk, 'from_isrc' | 'before_isrc' | 'row_count'>

/** Ledger rows one INSERT carries: far below max_allowed_packet. */
const INSERT_ROWS = 1_000

const insertChunks = async (database: Database, rows: (string | number | null)[][]): Promise<void> => {
  for (let start = 0; start < rows.length; start += INSERT_ROWS)
    await database.change(
      `insert into job_chunk (job_id, phase, number, from_isrc, before_isrc, object_digest, row_count) values ?`,
      [rows.slice(start, start + INSERT_ROWS)],
    )
}

/**
 * Replaces the delete plan: unmarked chunks go, marked ones stay as the record of what was deleted, the new ranges get
 * new numbers. A number is never used for two ranges, so a late duplicate of an old chunk can't mark a new one.
 */
export const replaceDeletePlan = async (database: Database, job: number, ranges: DeleteRange[]): Promise<void> => {
  // The bare column: MySQL makes a decimal of arithmetic that mixes signed and unsigned, and a decimal arrives as text.
  const [plan] = await database.rows<{ last: number | null }>(
    `select max(number) as last from job_chunk where job_id = ? and phase = 'delete'`,
    [job],
  )
  await database.change(`delete from job_chunk where job_id = ? and phase = 'delete' and marked_at is null`, [job])
  const first = (plan?.last ?? -1) + 1
  await insertChunks(
    database,
    ranges.map((range, index) => [
      job,
      'delete',
      first + index,
      range.from_isrc,
      range.before_isrc,
      null,
      range.row_count,
    ]),
  )
}

export const insertRegisterPlan = async (
  database: Database,
  job: number,
  chunks: readonly ManifestChunk[],
): Promise<void> =>
  insertChunks(
    database,
    chunks.map((chunk) => [job, 'register', chunk.number, chunk.firstIsrc, null, chunk.digest, chunk.rows]),
  )

/** Chunks `from` to `to` that carry no mark yet, in key order. */
export const unmarkedChunks = async (
  database: Database,
  job: number,
  phase: Phase,
  from = 0,
  to = 4_294_967_295,
): Promise<LedgerChunk[]> =>
  database.rows<LedgerChunk>(
    `select number, from_isrc, before_isrc, object_digest, row_count from job_chunk
     where job_id = ? and phase = ? and number between ? and ? and marked_at is null order by number`,
    [job, phase, from, to],
  )

/**
 * Marks a chunk, where no mark is set. False: its effect is already committed, so the caller changes nothing.
 * The row lock also makes a second run of the same chunk wait for the first to end, or kill it where it never ends.
 */
export const markChunk = async (database: Database, job: number, phase: Phase, number: number): Promise<boolean> => {
  const result = await database.change(
    `update job_chunk set marked_at = current_timestamp(6)
     where job_id = ? and phase = ? and number = ? and marked_at is null`,
    [job, phase, number],
  )
  return result.affectedRows === 1
}

/** Records how many rows a marked delete chunk removed, where a stranger made it more or fewer than planned. */
export const recordRows = async (
  database: Database,
  job: number,
  phase: Phase,
  number: number,
  rows: number,
): Promise<void> => {
  await database.change('update job_chunk set row_count = ? where job_id = ? and phase = ? and number = ?', [
    rows,
    job,
    phase,
    number,
  ])
}

/** How far a phase is: chunks and rows, marked and in all. */
export const progressOf = async (
  database: Database,
  job: number,
  phase: Phase,
): Promise<{ chunks: number; marked: number; rows: number; markedRows: number }> => {
  const [row] = await database.rows<{ chunks: number; marked: number; total: string; done: string }>(
    `select count(*) as chunks, count(marked_at) as marked, coalesce(sum(row_count), 0) as total,
            coalesce(sum(if(marked_at is null, 0, row_count)), 0) as done
     from job_chunk where job_id = ? and phase = ?`,
    [job, phase],
  )
  return {
    chunks: row?.chunks ?? 0,
    marked: row?.marked ?? 0,
    rows: Number(row?.total ?? 0),
    markedRows: Number(row?.done ?? 0),
  }
}
