import { fitting } from '../../contract/fitting.ts'
import { CALLER_CHARS_MAX, HALT_CAUSE_CHARS_MAX, HALT_ERROR_CHARS_MAX } from '../../contract/limits.ts'
import type { Staged } from '../../contract/messages.ts'
import { monthDate, type Slice, type Slot } from '../../contract/words.ts'
import type { Tx } from '../mysql/tx.ts'
import type { Life } from './execution.ts'
import { fenceFloor } from './fence-floor.ts'
import type { JobRow } from './row.ts'

/*
 * Where fences are issued, and nowhere else: opening, taking over, closing, halting and withdrawing a job. Each says which one it issued.
 */

/** A fence of a slice: as issued, or as read. See decisions.md, "Fences are issued in one place". */
export type Fence = { readonly fence: number }

/** Nothing was changed: the row is not under the fence and token that were read, or the job is not open any more. */
export type MovedOn = 'moved on'

/**
 * Fences of a slice only grow, over all its jobs, and over what a restore of the database took away. Before the first there
 * is none.
 */
const fenceAfter = async (tx: Tx, last: Fence | undefined): Promise<number> =>
  Math.max((last?.fence ?? 0) + 1, await fenceFloor(tx))

/** Who opens a job, and for which source. */
export type JobOpener = {
  readonly token: string
  readonly execution: string
  readonly life: Life
  readonly requestedBy: string
  readonly staged: Staged
  readonly undo: boolean
}

/** Where a new job's set will lie, and whether it lies there already. */
export type Placement = { readonly slot: Slot; readonly reusesSet: boolean }

/**
 * Inserts a job in DELETING. 1062 on a unique key says that another run was faster.
 *
 * @param last the last fence of the slice
 */
export const insertJob = async (
  tx: Tx,
  slice: Slice,
  last: Fence | undefined,
  opener: JobOpener,
  { slot, reusesSet }: Placement,
): Promise<Fence & { readonly id: number }> => {
  const fence = await fenceAfter(tx, last)
  const { insertId } = await tx.change(
    `insert into job (distributor_id, settlement_month, state, slot, reuses_set, fence, lock_token, execution,
                      execution_started_ms, execution_redrives, requested_by, source_digest, source_rows,
                      source_share_sum, is_undo)
     values (?, ?, 'DELETING', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      slice.distributorId,
      monthDate(slice.month),
      slot,
      reusesSet ? 1 : 0,
      fence,
      opener.token,
      opener.execution,
      opener.life.startedMs,
      opener.life.redrives,
      fitting(opener.requestedBy, CALLER_CHARS_MAX),
      opener.staged.digest,
      opener.staged.rows,
      opener.staged.shareSum,
      opener.undo ? 1 : 0,
    ],
  )
  return { id: insertId, fence }
}

/** A job row as it was read: what a change of it is compared with. */
type Seen = Pick<JobRow, 'id' | 'fence' | 'lock_token'>

/** The compare of the compare-and-set, and its values. */
const AS_SEEN = 'id = ? and fence = ? and lock_token <=> ? and open_slice = 1'
const seenValues = ({ id, fence, lock_token }: Seen) => [id, fence, lock_token]

/**
 * Gives an open job to a new holder. Delete plans count anew: a stranger who kept one opener from its end is not held
 * against the next.
 */
export const takeOverJob = async (tx: Tx, job: Seen, opener: JobOpener): Promise<Fence | MovedOn> => {
  const fence = await fenceAfter(tx, job)
  const { affectedRows } = await tx.change(
    `update job set fence = ?, lock_token = ?, execution = ?, execution_started_ms = ?, execution_redrives = ?,
            requested_by = ?, opened_at = current_timestamp(6), delete_plans = 0, waits_for = null, waiting_since = null,
            halted_at = null, halt_error = null, halt_cause = null
     where ${AS_SEEN}`,
    [
      fence,
      opener.token,
      opener.execution,
      opener.life.startedMs,
      opener.life.redrives,
      fitting(opener.requestedBy, CALLER_CHARS_MAX),
      ...seenValues(job),
    ],
  )
  return affectedRows === 1 ? { fence } : 'moved on'
}

/** Closes an open job for good: a worker that still runs it writes nothing more. */
export const closeJob = async (tx: Tx, job: Seen): Promise<Fence | MovedOn> => {
  const fence = await fenceAfter(tx, job)
  const { affectedRows } = await tx.change(
    `update job set fence = ?, lock_token = null, closed_at = current_timestamp(6) where ${AS_SEEN}`,
    [fence, ...seenValues(job)],
  )
  return affectedRows === 1 ? { fence } : 'moved on'
}

/** Shuts out the worker that runs an open job, and records why it stopped. */
export const markHalted = async (tx: Tx, job: Seen, error: string, cause: string): Promise<Fence | MovedOn> => {
  const fence = await fenceAfter(tx, job)
  const { affectedRows } = await tx.change(
    `update job set fence = ?, lock_token = null, halted_at = current_timestamp(6), halt_error = ?, halt_cause = ?
     where ${AS_SEEN}`,
    [fence, fitting(error, HALT_ERROR_CHARS_MAX), fitting(cause, HALT_CAUSE_CHARS_MAX), ...seenValues(job)],
  )
  return affectedRows === 1 ? { fence } : 'moved on'
}

/**
 * Takes the fence of a REGISTERED job whose set is taken from the readers: what was planned on it is refused from here on.
 */
export const markWithdrawn = async (tx: Tx, job: Pick<JobRow, 'id' | 'fence'>): Promise<Fence | MovedOn> => {
  const fence = await fenceAfter(tx, job)
  const { affectedRows } = await tx.change(
    `update job set fence = ?, lock_token = null, withdrawn_at = current_timestamp(6)
     where id = ? and fence = ? and state = 'REGISTERED' and withdrawn_at is null`,
    [fence, job.id, job.fence],
  )
  return affectedRows === 1 ? { fence } : 'moved on'
}
