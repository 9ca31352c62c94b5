import { type ExclusiveTx, staleFence } from './guard.ts'

/** When each state was reached; DELETING is `created_at`. */
const REACHED_AT = { DELETED: 'deleted_at', REGISTERING: 'registering_at', REGISTERED: 'registered_at' } as const

/** The moves there are: a state, and the one that follows it. */
type Move =
  | readonly [ExclusiveTx<'DELETING'>, 'DELETED']
  | readonly [ExclusiveTx<'DELETED'>, 'REGISTERING']
  | readonly [ExclusiveTx<'REGISTERING'>, 'REGISTERED']

/**
 * Moves the state one step. The old state, the fence and the token in the WHERE close the race with a take-over.
 *
 * @throws Failure StaleFence where no row was moved
 */
export const markState = async (...[guarded, next]: Move): Promise<void> => {
  const { by, state } = guarded
  const { affectedRows } = await guarded.change(
    `update job set state = ?, ${REACHED_AT[next]} = current_timestamp(6)
     where id = ? and fence = ? and lock_token = ? and state = ?`,
    [next, by.id, by.fence, by.token, state],
  )
  if (affectedRows !== 1) throw await staleFence(guarded, by, state)
}

/**
 * Counts one more delete plan of this opening.
 *
 * @throws Failure StaleFence where no row was counted
 */
export const countDeletePlan = async (guarded: ExclusiveTx<'DELETING'>): Promise<void> => {
  const { by, state } = guarded
  const { affectedRows } = await guarded.change(
    'update job set delete_plans = delete_plans + 1 where id = ? and fence = ? and lock_token = ? and state = ?',
    [by.id, by.fence, by.token, state],
  )
  if (affectedRows !== 1) throw await staleFence(guarded, by, state)
}
