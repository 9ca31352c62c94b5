import { Failure } from '../contract/failures.ts'
import { LOCK_WAIT_TIMEOUT_S, SWITCH_WAIT_S } from '../contract/limits.ts'
import { monthDate, type Slice, type Slot } from '../contract/words.ts'
import type { ExclusiveTx } from './job/guard.ts'
import { DatabaseFailure } from './mysql/failure.ts'
import type { Reader, Tx } from './mysql/tx.ts'

/** What readers see of a slice: the slot and the job of a set. */
export type ActiveSet = { readonly slot: Slot; readonly job: number }

type Named = Pick<Slice, 'distributorId' | 'month'>

/** What readers see now; undefined where they see nothing. */
export const activeSet = async (reader: Reader, { distributorId, month }: Named): Promise<ActiveSet | undefined> => {
  const [row] = await reader.rows<ActiveSet>(
    `select slot, job_id as job from active_set
     where distributor_id = ? and settlement_month = ? and job_id is not null`,
    [distributorId, monthDate(month)],
  )
  return row
}

/**
 * Writes the slice's row where it is not there yet. Looks first: an insert that meets the row would wait for whoever reads
 * it, and opening a job must not.
 */
export const ensureActiveSet = async (tx: Tx, { distributorId, month }: Named): Promise<void> => {
  const key = [distributorId, monthDate(month)]
  const there = await tx.rows('select 1 from active_set where distributor_id = ? and settlement_month = ?', key)
  if (there.length === 0)
    await tx.change('insert into active_set (distributor_id, settlement_month) values (?, ?)', key)
}

/**
 * Takes the slice's row from the readers until the transaction ends. A reader in a long transaction that holds the row is
 * somebody's program: it is waited for, and never ended.
 *
 * @throws Failure ReadersInTheWay, naming the session
 */
const holdRow = async (tx: Tx, { distributorId, month }: Named): Promise<void> => {
  // Whoever locks the row behind us waits for us too: not for long at a time.
  await tx.change(`set session innodb_lock_wait_timeout = ${SWITCH_WAIT_S}`)
  try {
    await tx.rows(
      'select job_id from active_set where distributor_id = ? and settlement_month = ? for update',
      [distributorId, monthDate(month)],
      { patienceS: 1 },
    )
  } catch (error) {
    if (!(error instanceof DatabaseFailure) || error.name !== 'DatabaseBlocked') throw error
    throw new Failure('ReadersInTheWay', `A reader keeps the set that is shown now: ${error.said}.`, { cause: error })
  } finally {
    await tx.change(`set session innodb_lock_wait_timeout = ${LOCK_WAIT_TIMEOUT_S}`)
  }
}

const write = async (tx: Tx, slice: Named, to: ActiveSet | undefined): Promise<void> => {
  await holdRow(tx, slice)
  const { affectedRows } = await tx.change(
    `update active_set set slot = ?, job_id = ? where distributor_id = ? and settlement_month = ?`,
    [to?.slot ?? null, to?.job ?? null, slice.distributorId, monthDate(slice.month)],
  )
  if (affectedRows === 1) return
  throw new Failure(
    'DatabaseRefused',
    'What readers see was not changed: the row of active_set did not change. See what else writes to the table active_set, then try again.',
  )
}

/**
 * The switch: from the commit on readers see the job's set. Written in the transaction that sets REGISTERED, and nowhere else.
 *
 * @throws Failure ReadersInTheWay
 */
export const showSet = async (guarded: ExclusiveTx<'REGISTERING' | 'DELETING'>): Promise<void> =>
  await write(guarded, guarded.slotKey, { slot: guarded.slotKey.slot, job: guarded.by.id })

/**
 * From the commit on readers see nothing of the slice. The caller holds its newest job's row, and shuts that one's worker out.
 *
 * @throws Failure ReadersInTheWay
 */
export const hideSet = async (tx: Tx, slice: Named): Promise<void> => await write(tx, slice, undefined)
