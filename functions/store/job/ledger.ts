import { Failure } from '../../contract/failures.ts'
import type { ManifestChunk } from '../../contract/manifest.ts'
import type { JobState, Phase } from '../../contract/words.ts'
import type { Reader, Tx } from '../mysql/tx.ts'
import type { ExclusiveTx, GuardedTx } from './guard.ts'

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

const insertChunks = async (tx: Tx, rows: (string | number | null)[][]): Promise<void> => {
  for (let start = 0; start < rows.length; start += INSERT_ROWS)
    await tx.change(
      `insert into job_chunk (job_id, phase, number, from_isrc, before_isrc, object_digest, row_count) values ?`,
      [rows.slice(start, start + INSERT_ROWS)],
    )
}

/**
 * Replaces the delete plan: unmarked chunks go, marked ones stay as the record of what was deleted, the new ranges get
 * new numbers. A number is never used for two ranges, so a late duplicate of an old chunk can't mark a new one.
 */
export const replaceDeletePlan = async (guarded: ExclusiveTx<'DELETING'>, ranges: DeleteRange[]): Promise<void> => {
  const job = guarded.by.id
  // The bare column: MySQL makes a decimal of arithmetic that mixes signed and unsigned, and a decimal arrives as text.
  const [plan] = await guarded.rows<{ last: number | null }>(
    `select max(number) as last from job_chunk where job_id = ? and phase = 'delete'`,
    [job],
  )
  await guarded.change(`delete from job_chunk where job_id = ? and phase = 'delete' and marked_at is null`, [job])
  const first = (plan?.last ?? -1) + 1
  await insertChunks(
    guarded,
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
  guarded: ExclusiveTx<'DELETED'>,
  chunks: readonly ManifestChunk[],
): Promise<void> =>
  insertChunks(
    guarded,
    chunks.map((chunk) => [guarded.by.id, 'register', chunk.number, chunk.firstIsrc, null, chunk.digest, chunk.rows]),
  )

/** Chunks `from` to `to` that carry no mark yet, in key order. */
export const unmarkedChunks = async (
  reader: Reader,
  job: number,
  phase: Phase,
  from = 0,
  to = 4_294_967_295,
): Promise<LedgerChunk[]> =>
  reader.rows<LedgerChunk>(
    `select number, from_isrc, before_isrc, object_digest, row_count from job_chunk
     where job_id = ? and phase = ? and number between ? and ? and marked_at is null order by number`,
    [job, phase, from, to],
  )

const PHASE_OF_STATE = { DELETING: 'delete', REGISTERING: 'register' } as const satisfies Partial<
  Record<JobState, Phase>
>

/**
 * Marks a chunk, where no mark is set. Marked before: its effect is already committed, so the caller changes nothing.
 * The row lock also makes a second run of the same chunk wait for the first to end, or kill it where it never ends.
 */
export const markChunk = async (
  guarded: GuardedTx<'DELETING' | 'REGISTERING'>,
  number: number,
): Promise<'marked' | 'marked before'> => {
  const { affectedRows } = await guarded.change(
    `update job_chunk set marked_at = current_timestamp(6)
     where job_id = ? and phase = ? and number = ? and marked_at is null`,
    [guarded.by.id, PHASE_OF_STATE[guarded.state], number],
  )
  return affectedRows === 1 ? 'marked' : 'marked before'
}

/**
 * Records how many rows a marked delete chunk removed, where a stranger made it more or fewer than planned.
 *
 * @throws Failure ChunkMismatch where the ledger has no such chunk, or has this number already
 */
export const recordRows = async (guarded: GuardedTx<'DELETING'>, number: number, rows: number): Promise<void> => {
  const { affectedRows } = await guarded.change(
    `update job_chunk set row_count = ? where job_id = ? and phase = 'delete' and number = ?`,
    [rows, guarded.by.id, number],
  )
  if (affectedRows === 1) return
  throw new Failure(
    'ChunkMismatch',
    `The rows of delete chunk ${number} were not recorded: its line in the ledger is not as it was planned; the chunk was rolled back. See what else writes to the table job_chunk, then start again with the same file.`,
    { job: guarded.by.id, fence: guarded.by.fence, state: guarded.state },
  )
}

/** How far a phase is: chunks and rows, marked and in all. */
export const progressOf = async (
  reader: Reader,
  job: number,
  phase: Phase,
): Promise<{ chunks: number; marked: number; rows: number; markedRows: number }> => {
  const [row] = await reader.rows<{ chunks: number; marked: number; total: string; done: string }>(
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
