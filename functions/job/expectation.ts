import { Failure } from '../contract/failures.ts'
import type { Expectation, SeenHead } from '../contract/messages.ts'
import { type Slice, sliceName } from '../contract/words.ts'
import { isRunning } from '../store/job/predicates.ts'
import type { JobRow } from '../store/job/row.ts'

const NOTHING_TOUCHED = 'Nothing was touched.'

/**
 * The staged source is the one that was shown.
 *
 * @throws Failure PlanMoved
 */
export const requireDigest = (slice: Slice, expect: Expectation | undefined, digest: string): void => {
  if (expect?.digest === undefined || expect.digest === digest) return
  throw new Failure(
    'PlanMoved',
    `${sliceName(slice)}: the file is not the one that this start was planned with: its rows make the staged source ${digest} and not ${expect.digest}. ${NOTHING_TOUCHED}`,
  )
}

/**
 * The slice's newest job is the one that was seen when the start was planned. Asked in the very transaction that opens
 * the job, so that nothing comes between.
 *
 *   plan: head (7, fence 3, REGISTERED)      another run registers job 8      OpenJob of the plan: PlanMoved
 *
 * Two jobs came later and are expected all the same: the one that this execution opened itself (a reply or a lock was
 * lost behind it), and that of a run which it was told to wait for.
 * See decisions.md, "A plan names the head it was made on".
 *
 * @throws Failure PlanMoved
 */
export const requireHead = (
  slice: Slice,
  expect: Expectation | undefined,
  execution: string,
  newest: JobRow | undefined,
): void => {
  if (expect?.head === undefined || isSeen(newest, expect.head)) return
  // An open one only: the same name may have had an earlier life. A halted one was taken from this run by somebody.
  if (newest?.execution === execution && isRunning(newest)) return
  if (newest !== undefined && expect.after?.includes(newest.execution)) return
  throw new Failure(
    'PlanMoved',
    `${sliceName(slice)} is not as it was when this start was planned: ${movedBy(newest, expect.head)}. ${NOTHING_TOUCHED}`,
    { job: newest?.id, fence: newest?.fence, state: newest?.state },
  )
}

/**
 * An undo's set is chosen when it is staged, before the lock. Asked again in OpenJob's transaction: the set to go back to
 * is still that one.
 *
 *   A, B, undo: A is staged      another run registers C      OpenJob of the undo: PlanMoved, since it goes back to B now
 *
 * @throws Failure PlanMoved
 */
export const requireUndo = (slice: Slice, staged: string, target: JobRow | undefined): void => {
  if (target?.source_digest === staged) return
  const now = target === undefined ? 'nothing' : `the staged source ${target.source_digest} of job ${target.id}`
  throw new Failure(
    'PlanMoved',
    `${sliceName(slice)} has changed since this undo was begun: it would go back to ${now} and not to ${staged}. ${NOTHING_TOUCHED}`,
  )
}

const isSeen = (newest: JobRow | undefined, seen: SeenHead | null): boolean =>
  newest === undefined || seen === null
    ? newest === undefined && seen === null
    : newest.id === seen.job && newest.fence === seen.fence && newest.state === seen.state

const movedBy = (newest: JobRow | undefined, seen: SeenHead | null): string => {
  if (newest === undefined) return `job ${seen?.job} is gone`
  const who = `requested by ${newest.requested_by} in ${newest.execution}`
  if (newest.id !== seen?.job) return `job ${newest.id}, ${who}, came since`
  return `job ${seen.job} was ${seen.state} under fence ${seen.fence} and is ${newest.state} under fence ${newest.fence}, ${who}`
}
