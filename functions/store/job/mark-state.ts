import { fitting } from '../../contract/fitting.ts'
import { WAITS_FOR_CHARS_MAX } from '../../contract/limits.ts'
import type { JobState } from '../../contract/words.ts'
import type { Param } from '../mysql/tx.ts'
import { type ExclusiveTx, staleFence } from './guard.ts'

/*
 * What moves a job's state, and what else is written about its course.
 */

/** When each state was reached; DELETING is `created_at`. */
const REACHED_AT = { DELETED: 'deleted_at', REGISTERING: 'registering_at', REGISTERED: 'registered_at' } as const

/** The moves there are: a state, and the one that follows it. */
type Move =
  | readonly [ExclusiveTx<'DELETING'>, 'DELETED']
  | readonly [ExclusiveTx<'DELETED'>, 'REGISTERING']
  // From DELETING: the slot holds the wanted set, whole, and nothing is deleted or registered.
  | readonly [ExclusiveTx<'REGISTERING'> | ExclusiveTx<'DELETING'>, 'REGISTERED']

/**
 * Changes the job's row. The state, the fence and the token in the WHERE close the race with a take-over.
 *
 * @param set assignments, whose values come first
 * @throws Failure StaleFence where no row was changed
 */
const changeRow = async <State extends JobState>(
  guarded: ExclusiveTx<State>,
  set: string,
  values: readonly Param[] = [],
): Promise<void> => {
  const { by, state } = guarded
  const { affectedRows } = await guarded.change(
    `update job set ${set} where id = ? and fence = ? and lock_token = ? and state = ?`,
    [...values, by.id, by.fence, by.token, state],
  )
  if (affectedRows !== 1) throw await staleFence(guarded, by, state)
}

/**
 * Moves the state one step.
 *
 * @throws Failure StaleFence where no row was moved
 */
export const markState = async (...[guarded, next]: Move): Promise<void> =>
  await changeRow<JobState>(
    guarded,
    `state = ?, ${REACHED_AT[next]} = current_timestamp(6), waits_for = null, waiting_since = null`,
    [next],
  )

/**
 * Counts one more delete plan of this opening.
 *
 * @throws Failure StaleFence where no row was counted
 */
export const countDeletePlan = async (guarded: ExclusiveTx<'DELETING'>): Promise<void> =>
  await changeRow(guarded, 'delete_plans = delete_plans + 1')

/**
 * The slot does not hold the wanted set after all: the job goes on to delete it, as any other does.
 *
 * @throws Failure StaleFence
 */
export const giveUpReuse = async (guarded: ExclusiveTx<'DELETING'>): Promise<void> =>
  await changeRow(guarded, 'reuses_set = false')

/**
 * Writes whose locks the switch waits for, for operators and readers to see.
 *
 * @returns seconds since it began to wait
 */
export const recordWait = async (guarded: ExclusiveTx<'REGISTERING' | 'DELETING'>, whom: string): Promise<number> => {
  const { by, state } = guarded
  await guarded.change(
    `update job set waits_for = ?, waiting_since = coalesce(waiting_since, current_timestamp(6))
     where id = ? and fence = ? and lock_token = ? and state = ?`,
    [fitting(whom, WAITS_FOR_CHARS_MAX), by.id, by.fence, by.token, state],
  )
  const [row] = await guarded.rows<{ waitedS: number }>(
    'select timestampdiff(second, waiting_since, current_timestamp(6)) as waitedS from job where id = ?',
    [by.id],
  )
  return row?.waitedS ?? 0
}
