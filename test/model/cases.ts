import {
  A_COMES_BACK,
  ANY_TASK,
  B_COMES_BACK,
  ENDING,
  IN_PLACE,
  LOCKING,
  LOSES_COMMIT,
  OPENING,
  OTHER,
  PINNING,
  REUSES,
  SAME,
  TRANSITIONS,
  UNDOES,
  WITHDRAWS,
} from './switches.ts'

/** One run of the checker: what is switched on in the model. */
export type Case = {
  readonly name: string
  /** Macros of the model. */
  readonly defines: readonly string[]
}

/**
 * Everything at once has more states than a laptop's memory, so each case has the two executions with crash, expiry, halt
 * and status event at any step, and one thing more. Together with the mutants they take a minute and a half of two idle cores.
 */
export const BASES: readonly Case[] = [
  { name: 'same file, a chunk attempt left behind', defines: [SAME, 'STRAY_WORKER'] },
  { name: 'other file, a chunk attempt left behind', defines: [OTHER, 'STRAY_WORKER'] },
  { name: 'same file, both come back after LockLost', defines: [SAME, A_COMES_BACK, B_COMES_BACK] },
  { name: 'other file, A comes back after LockLost', defines: [OTHER, A_COMES_BACK] },
  { name: 'other file, B comes back after LockLost', defines: [OTHER, B_COMES_BACK] },
  { name: 'AcquireLock or OpenJob left behind', defines: [OTHER, OPENING] },
  { name: 'a plan or transition left behind', defines: [OTHER, TRANSITIONS] },
  { name: 'HaltJob or ReleaseLock left behind', defines: [OTHER, ENDING] },
  { name: 'first month, same or other file', defines: ['FIRST_MONTH', 'ONLY_NO_SET'] },
  { name: 'same file, MySQL loses an opening', defines: [SAME, LOSES_COMMIT] },
  { name: 'other file, MySQL loses an opening', defines: [OTHER, LOSES_COMMIT] },
  { name: 'in-place, same or other file', defines: [IN_PLACE] },
  { name: 'a locking reader', defines: [LOCKING] },
  { name: 'in-place, a locking reader', defines: [IN_PLACE, LOCKING] },
  { name: 'a reader of several statements', defines: [PINNING] },
  { name: 'a set is reused, or is not whole', defines: [REUSES] },
  { name: 'in-place, a set is reused, or is not whole', defines: [IN_PLACE, REUSES] },
  { name: 'a set is withdrawn', defines: [OTHER, WITHDRAWS] },
  { name: 'a set is withdrawn, or reused', defines: [WITHDRAWS, REUSES, UNDOES] },
]

/** `--thorough`: larger combinations, some minutes and up to 2 GB each. */
export const THOROUGH: readonly Case[] = [
  { name: 'same file, A comes back, a chunk attempt left behind', defines: [SAME, A_COMES_BACK, 'STRAY_WORKER'] },
  { name: 'other file, A comes back, a chunk attempt left behind', defines: [OTHER, A_COMES_BACK, 'STRAY_WORKER'] },
  { name: 'same file, any task left behind', defines: [SAME, ANY_TASK] },
  { name: 'other file, any task left behind', defines: [OTHER, ANY_TASK] },
  { name: 'in-place, same file, a chunk attempt left behind', defines: [SAME, IN_PLACE, 'STRAY_WORKER'] },
  { name: 'in-place, other file, a chunk attempt left behind', defines: [OTHER, IN_PLACE, 'STRAY_WORKER'] },
  { name: 'in-place, a plan or transition left behind', defines: [OTHER, IN_PLACE, TRANSITIONS] },
  { name: 'a set is reused, a plan or transition left behind', defines: [REUSES, TRANSITIONS] },
  { name: 'a set is withdrawn, AcquireLock or OpenJob left behind', defines: [OTHER, WITHDRAWS, OPENING] },
]

/** The places the base cases must come to, by their number in words.pml. */
export const PLACES: Readonly<Record<string, string>> = {
  1: 'a job is REGISTERED and its lock released',
  2: 'a chunk meets StaleFence',
  3: 'a chunk is skipped, for it is marked',
  4: 'a halted job is resumed by the other execution',
  5: 'an open job is taken over from a run that lives or died unseen',
  6: 'an open job of another file is closed',
  7: 'OpenJob answers Superseded',
  8: 'OpenJob answers JobOpenError',
  9: 'an insert meets a unique key',
  10: 'an insert comes too late, past both keys',
  11: 'a run comes back after LockLost with its own job and fence',
  12: 'a slice is planned again',
  13: 'MarkDeleted answers SliceNotEmpty',
  14: 'the lock of a failed run is released with a sibling in flight',
  15: 'a status event halts the job of a stopped execution',
  16: 'OpenJob of an execution that is over is refused',
  17: 'a failover loses the opening of a job',
  18: 'a locking reader comes to the end of its set',
  19: 'a reader of several statements finds that its parts are not of one set',
  20: 'a set is withdrawn',
  21: 'a set is reused',
  22: 'a set that lies in the slot is not whole',
}
