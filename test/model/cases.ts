/** One run of the checker: what is switched on in the model. */
export type Case = {
  readonly name: string
  /** Macros of the model. */
  readonly defines: readonly string[]
}

export type Mutant = Case & {
  /** The number of the invariant whose breach is expected to be found first. */
  readonly breaks: string
  /** What the mutant leaves out or does wrong. */
  readonly mistake: string
}

const SAME = 'ONLY_SAME_SOURCE'
const OTHER = 'ONLY_OTHER_SOURCE'
const A_COMES_BACK = 'REACQUIRES_A=1'
const B_COMES_BACK = 'REACQUIRES_B=1'

/** A failover of MySQL loses the last commit. */
const LOSES_COMMIT = 'LOSES_COMMIT'

/** The zombie may be of any of these tasks, see words.pml. */
const OPENING = 'STRAY_TASKS=3'
const TRANSITIONS = 'STRAY_TASKS=60'
const ENDING = 'STRAY_TASKS=192'
const ANY_TASK = 'STRAY_TASKS=255'

/**
 * Everything at once has more states than a laptop's memory, so each case has the two executions with crash, expiry, halt
 * and status event at any step, and one thing more. Together they take about a minute.
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
  { name: 'first month, same or other file', defines: ['FIRST_MONTH'] },
  { name: 'same file, MySQL loses an opening', defines: [SAME, LOSES_COMMIT] },
  { name: 'other file, MySQL loses an opening', defines: [OTHER, LOSES_COMMIT] },
]

/** `--thorough`: larger combinations, some minutes and up to 2 GB each. */
export const THOROUGH: readonly Case[] = [
  { name: 'same file, A comes back, a chunk attempt left behind', defines: [SAME, A_COMES_BACK, 'STRAY_WORKER'] },
  { name: 'other file, A comes back, a chunk attempt left behind', defines: [OTHER, A_COMES_BACK, 'STRAY_WORKER'] },
  { name: 'same file, any task left behind', defines: [SAME, ANY_TASK] },
  { name: 'other file, any task left behind', defines: [OTHER, ANY_TASK] },
]

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'no guard',
    defines: [OTHER, 'MUTANT_NO_GUARD'],
    breaks: '2',
    mistake: 'a chunk writes without reading the job row in its transaction',
  },
  {
    name: 'guard not held',
    defines: [OTHER, 'MUTANT_GUARD_NOT_HELD'],
    breaks: '2',
    mistake: 'the guard reads the job row without `for share`',
  },
  {
    name: 'lock only',
    defines: [OTHER, 'MUTANT_LOCK_ONLY'],
    breaks: '2',
    mistake: 'the lock is verified instead of the fence',
  },
  {
    name: 'release first',
    defines: [OTHER, 'MUTANT_RELEASE_FIRST'],
    breaks: '6',
    mistake: 'HaltJob releases the lock before it raises the fence',
  },
  {
    name: 'renewal creates',
    defines: [OTHER, 'MUTANT_RENEWAL_CREATES'],
    breaks: '5',
    mistake: 'extending sets the key where it does not exist',
  },
  {
    name: 'unconditional DEL',
    defines: [OTHER, 'MUTANT_UNCONDITIONAL_DEL'],
    breaks: '5',
    mistake: 'releasing deletes the key, no matter who holds it',
  },
  {
    name: 'mark before',
    defines: [OTHER, 'MUTANT_MARK_BEFORE'],
    breaks: '3',
    mistake: 'the mark commits in a transaction of its own, before the rows',
  },
  {
    name: 'mark after',
    defines: [SAME, 'MUTANT_MARK_AFTER'],
    breaks: '3',
    mistake: 'the mark commits in a transaction of its own, after the rows',
  },
  {
    name: 'no unique key',
    defines: [OTHER, 'MUTANT_NO_UNIQUE_KEY'],
    breaks: '4',
    mistake: 'nothing but the lock prevents a second open job',
  },
  {
    name: 'DELETED unseen',
    defines: [SAME, TRANSITIONS, 'MUTANT_DELETED_UNSEEN'],
    breaks: '1',
    mistake: 'MarkDeleted looks neither at the slice nor at the ledger',
  },
  {
    name: 'insert unchecked',
    defines: [OTHER, B_COMES_BACK, 'MUTANT_INSERT_UNCHECKED'],
    breaks: '9',
    mistake: 'OpenJob trusts the unique keys alone and may insert a job below the newest fence',
  },
  {
    name: 'token not compared',
    defines: [OTHER, LOSES_COMMIT, 'MUTANT_TOKEN_NOT_COMPARED'],
    breaks: '2',
    mistake: 'the guard compares job, fence and state, and not whose acquisition opened the job',
  },
  {
    name: 'execution not compared',
    defines: [OTHER, LOSES_COMMIT, 'MUTANT_EXECUTION_NOT_COMPARED'],
    breaks: '2',
    mistake: 'HaltJob takes a job for its own by number and fence alone',
  },
  {
    name: 'end not asked for',
    defines: [OTHER, OPENING, 'MUTANT_ENDED_NOT_ASKED'],
    breaks: '14',
    mistake: 'OpenJob does not ask whether its execution is over',
  },
  {
    name: 'looks before it ends',
    defines: [OTHER, OPENING, 'MUTANT_LOOKS_FIRST'],
    breaks: '14',
    mistake: 'the status event looks for the job before it says that the execution is over',
  },
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
}
