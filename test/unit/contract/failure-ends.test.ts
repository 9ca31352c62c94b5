import { expect, test } from 'vitest'
import {
  FAILURE_NAMES,
  FAILURES,
  type FailureFamily,
  type FailureName,
  failuresEnding,
  failuresOf,
} from '../../../functions/contract/failure-table.ts'

/* What the machine and the operator's command make of each name: a name that moves to another end or exit is seen here. */

const words = (text: string): FailureName[] => text.split(' ').toSorted() as FailureName[]

const HALTED =
  'LockTaken DatabaseUnreachable DatabaseBlocked ReadersInTheWay DatabaseFull DatabaseReadOnly DatabaseLoginRefused LockUnreachable LockRefused StorageUnreachable OutOfTime InvocationOver LockLost ChunkMismatch SliceNotEmpty SliceKeepsFilling SliceMismatch ChunksUnfinished DatabaseMisconfigured DatabaseRefused ConstraintRefused LockMisconfigured'
const REJECTED =
  'InvalidInput UnknownDistributor SourceMissing SourceRejected WarningsUnconfirmed NothingToUndo StagedSourceDamaged'

test.each([
  ['staging', 'Rejected', `${REJECTED} PlanMoved`],
  ['later', 'Rejected', ''],
  ['staging', 'Refused', `LockHeld LockAwaited JobOpenError StaleFence Superseded ExecutionEnded ${HALTED}`],
  ['later', 'Refused', 'LockHeld LockAwaited JobOpenError PlanMoved'],
  ['staging', 'Superseded', ''],
  ['later', 'Superseded', 'StaleFence Superseded ExecutionEnded'],
  ['staging', 'Halted', ''],
  ['later', 'Halted', `${HALTED} ${REJECTED}`],
] as const)('by a failure of a task (%s) an execution ends %s for exactly %s', (when, end, names) => {
  expect(failuresEnding(when, end).toSorted()).toEqual(names === '' ? [] : words(names))
})

test('answers to operators end no execution', () => {
  const answers = FAILURE_NAMES.filter((name) => FAILURES[name].end === null)
  expect(answers.toSorted()).toEqual(words('UnknownJob NotLocked NotOpen NotShown LockChanged DistributorExists'))
})

test.each([
  ['held', 'LockHeld LockAwaited LockTaken'],
  [
    'transient',
    'DatabaseUnreachable DatabaseBlocked ReadersInTheWay DatabaseFull DatabaseReadOnly DatabaseLoginRefused LockUnreachable LockRefused StorageUnreachable OutOfTime InvocationOver',
  ],
  ['lost', 'LockLost StaleFence Superseded ExecutionEnded'],
] as const satisfies readonly (readonly [FailureFamily, string])[])('the family %s is %s', (family, names) => {
  expect(failuresOf(family).toSorted()).toEqual(words(names))
})

test.each([
  ['mysql', /^Database|^ConstraintRefused$/],
  ['valkey', /^Lock(Unreachable|Refused|Misconfigured)$/],
  ['s3', /^StorageUnreachable$/],
] as const)('the failures of %s are those of its names', (store, names) => {
  for (const name of FAILURE_NAMES) expect(FAILURES[name].store === store, name).toBe(names.test(name))
})

test.each([
  ['Busy', 'LockHeld LockAwaited LockTaken DatabaseBlocked ReadersInTheWay JobOpenError LockChanged'],
  ['Rejected', 'SourceRejected StagedSourceDamaged'],
  ['NotFound', 'UnknownDistributor SourceMissing NothingToUndo UnknownJob NotLocked NotOpen NotShown'],
  ['PlanMoved', 'PlanMoved'],
  ['Unconfirmed', 'WarningsUnconfirmed'],
  ['Usage', 'InvalidInput DistributorExists'],
  ['Failed', 'DatabaseRefused ConstraintRefused'],
  [
    'Halted',
    'LockLost StaleFence Superseded ExecutionEnded ChunkMismatch SliceNotEmpty SliceKeepsFilling SliceMismatch ChunksUnfinished',
  ],
] as const)('the command ends with %s for exactly %s', (exit, names) => {
  expect(FAILURE_NAMES.filter((name) => FAILURES[name].exit === exit).toSorted()).toEqual(words(names))
})
