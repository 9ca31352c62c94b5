import type { Case } from './cases.ts'
import {
  B_COMES_BACK,
  IN_PLACE,
  LOCKING,
  LOSES_COMMIT,
  OPENING,
  OTHER,
  REUSES,
  SAME,
  TRANSITIONS,
  WITHDRAWS,
} from './switches.ts'

export type Mutant = Case & {
  /** The number of the invariant whose breach is expected to be found first. */
  readonly breaks: string
  /** What the mutant leaves out or does wrong. */
  readonly mistake: string
}

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
  {
    name: 'switch outside',
    defines: [OTHER, 'MUTANT_SWITCH_OUTSIDE'],
    breaks: '9',
    mistake: 'active_set is written in a transaction of its own, after the one that sets REGISTERED',
  },
  {
    name: 'writes the active slot',
    defines: [OTHER, 'MUTANT_WRITES_ACTIVE'],
    breaks: '9',
    mistake: 'OpenJob gives a job of the mode standby the slot that readers see',
  },
  {
    name: 'take-over moves',
    defines: [SAME, 'MUTANT_TAKE_OVER_MOVES'],
    breaks: '9',
    mistake: 'a take-over gives the job the other slot',
  },
  {
    name: 'view by newest job',
    defines: [OTHER, 'MUTANT_VIEW_BY_NEWEST'],
    breaks: '9',
    mistake: "readers go by the newest job's state instead of active_set",
  },
  {
    name: 'not cleared',
    defines: [OTHER, IN_PLACE, 'MUTANT_NOT_CLEARED'],
    breaks: '9',
    mistake: 'OpenJob of the mode in-place leaves active_set as it is',
  },
  {
    name: 'row not held',
    defines: [OTHER, LOCKING, 'MUTANT_ROW_NOT_HELD'],
    breaks: '9',
    mistake: "a locking reader does not hold active_set's row, so no switch waits for it",
  },
  {
    name: 'reuse unchecked',
    defines: [OTHER, REUSES, 'MUTANT_REUSE_UNCHECKED'],
    breaks: '9',
    mistake: 'ReuseSet switches without comparing the rows that lie in the slot',
  },
  {
    name: 'withdrawal without a fence',
    defines: [OTHER, WITHDRAWS, 'MUTANT_WITHDRAW_UNRAISED'],
    breaks: '15',
    mistake: 'a withdrawal does not raise the fence of the newest job',
  },
]
