import type { FailureName } from '../../functions/contract/failures.ts'
import type { SliceName } from './operations.ts'

/** What only operators are answered with, and no execution meets. */
type AnswerName = 'UnknownJob' | 'NotLocked' | 'LockChanged' | 'DistributorExists'

/** How an execution or job ends that no task has named. */
type EndName = 'ExecutionABORTED' | 'ExecutionTIMED_OUT' | 'Abandoned' | 'Stopped' | 'Unlocked'

/** The options that name a slice in a command. */
export const sliceOptions = ({ distributor, month }: SliceName): string =>
  `--distributor ${distributor} --month ${month}`

/** The commands that a remedy may name. */
type Commands = Readonly<Record<'goOn' | 'watch' | 'show' | 'start' | 'supersede' | 'startOver', string>>

const commandsOf = (slice: SliceName, isOpen: boolean): Commands => {
  const options = sliceOptions(slice)
  const start = `sharelock start ${options} --file FILE`
  return {
    // Where no job is open yet there is nothing to resume: the same start again does it.
    goOn: isOpen ? `sharelock resume ${options}` : start,
    watch: `sharelock watch ${options}`,
    show: `sharelock show ${options}`,
    start,
    supersede: `${start} --supersede`,
    startOver: `${start} --supersede --force`,
  }
}

/** What to do about each failure: a sentence that ends with the one command to type. */
const REMEDIES: Readonly<Record<Exclude<FailureName, AnswerName> | EndName, (commands: Commands) => string>> = {
  LockHeld: ({ show }) => `See whether the run that holds the slice still goes on, or left its lock behind: ${show}`,
  LockAwaited: ({ show }) => `The slice was held for hours. See by whom: ${show}`,
  LockTaken: ({ show }) => `Another run took the slice. See which, and how far it is: ${show}`,
  DatabaseUnreachable: ({ goOn }) => `When MySQL answers again, go on: ${goOn}`,
  LockUnreachable: ({ goOn }) => `When Valkey answers again, go on: ${goOn}`,
  LockRefused: ({ goOn }) => `Do what the sentence above says about Valkey, then go on: ${goOn}`,
  LockMisconfigured: ({ goOn }) => `Do what the sentence above says about Valkey, then go on: ${goOn}`,
  StorageUnreachable: ({ goOn }) => `When S3 answers again, go on: ${goOn}`,
  InvocationOver: ({ goOn }) => `A task was answered for before it had ended. Go on: ${goOn}`,
  OutOfTime: ({ goOn }) => `A store was too slow for a task's time. Go on: ${goOn}`,
  LockLost: ({ goOn }) => `The lock was lost several times. Go on: ${goOn}`,
  StaleFence: ({ show }) => `Another run took over, or somebody stopped this one. Look at the newest job: ${show}`,
  Superseded: ({ show }) => `Another run took over. Look at the newest job: ${show}`,
  ExecutionEnded: ({ show }) => `It was stopped or unlocked before it began. See the slice, then start again: ${show}`,
  InvalidInput: ({ start }) => `The request was wrong and nothing was touched. Start again: ${start}`,
  UnknownDistributor: () => 'See the codes, which are case-sensitive: sharelock distributors list',
  SourceMissing: ({ start }) => `The file is not there. Upload and start it: ${start}`,
  SourceRejected: ({ start }) =>
    `Nothing was touched. Mend the file, check it with \`sharelock validate FILE\`, then: ${start}`,
  PlanMoved: ({ show, start }) =>
    `What was shown moved on, and nothing was touched. See what is there now with \`${show}\`, look at the new plan and start again: ${start}`,
  NothingToUndo: ({ show }) => `There is no earlier set. See what there is: ${show}`,
  StagedSourceDamaged: ({ start }) =>
    `Start the very file of that set: what is missing is written anew and its job goes on. Another file needs --supersede while a job is open. ${start}`,
  JobOpenError: ({ supersede }) => `Resume the open job as it is, or close it: ${supersede}`,
  ChunkMismatch: ({ startOver }) => `Another program wrote to the slice. Stop it, then start over: ${startOver}`,
  SliceNotEmpty: ({ goOn }) => `Rows were left over. Go on: ${goOn}`,
  SliceKeepsFilling: ({ goOn }) => `Another program keeps inserting. Stop it, then go on: ${goOn}`,
  SliceMismatch: ({ startOver }) => `Another program wrote to the slice. Stop it, then start over: ${startOver}`,
  ChunksUnfinished: ({ goOn }) => `Some chunks are not registered. Go on: ${goOn}`,
  DatabaseBlocked: ({ goOn }) =>
    `Another program's session keeps a lock; the message names it. Once it ended, go on: ${goOn}`,
  DatabaseFull: ({ goOn }) => `MySQL has no room. Once it has, go on: ${goOn}`,
  DatabaseReadOnly: ({ goOn }) => `MySQL takes no writes. Once it does, go on: ${goOn}`,
  DatabaseLoginRefused: ({ goOn }) => `MySQL refused the functions' login. Once it is let in, go on: ${goOn}`,
  DatabaseRefused: ({ goOn }) => `MySQL refused a statement; the message says how. Once that is cleared up: ${goOn}`,
  ConstraintRefused: ({ goOn }) =>
    `Another program's foreign key, trigger or check is in the way. Remove it, then go on: ${goOn}`,
  DatabaseMisconfigured: () => 'The database is set up wrong. Find out how: sharelock doctor',
  ExecutionABORTED: ({ goOn }) => `Somebody stopped it. Go on when you are ready: ${goOn}`,
  ExecutionTIMED_OUT: ({ goOn }) => `It ran for longer than a run may. Go on: ${goOn}`,
  Abandoned: ({ goOn }) => `Its execution was gone. Go on: ${goOn}`,
  Stopped: ({ goOn }) => `An operator stopped it. Go on when you are ready: ${goOn}`,
  Unlocked: ({ goOn }) => `An operator unlocked the slice. Go on when you are ready: ${goOn}`,
}

/**
 * @param error a failure's name, or whatever Lambda or Step Functions called it: going on is always safe
 * @param isOpen whether the slice has an open job
 */
export const remedyOf = (error: string, slice: SliceName, isOpen: boolean): string => {
  const commands = commandsOf(slice, isOpen)
  const remedy = (REMEDIES as Readonly<Record<string, (commands: Commands) => string>>)[error]
  return remedy?.(commands) ?? `Look at the job (${commands.show}) and, if nothing speaks against it: ${commands.goOn}`
}

const BUSY: readonly string[] = ['LockHeld', 'LockAwaited', 'LockTaken', 'JobOpenError'] satisfies FailureName[]
const REJECTED: readonly string[] = [
  'InvalidInput',
  'UnknownDistributor',
  'SourceMissing',
  'SourceRejected',
  'NothingToUndo',
  'StagedSourceDamaged',
] satisfies FailureName[]

/** What kind of refusal a failed run is, for whoever waits for its end. */
export const kindOfEnd = (error: string, isOpen: boolean): 'PlanMoved' | 'Busy' | 'Rejected' | 'Halted' => {
  if (error === ('PlanMoved' satisfies FailureName)) return 'PlanMoved'
  return BUSY.includes(error) ? 'Busy' : REJECTED.includes(error) && !isOpen ? 'Rejected' : 'Halted'
}
