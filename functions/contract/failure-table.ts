/**
 * The only list of failures: what each name means to the state machine, and to the operator. A name is the contract between
 * handler, machine and operator, so it is a literal (bundlers rename classes).
 *
 * - held: another run holds the slice; wait for it or refuse.
 * - transient: nothing is wrong with the data; retry with backoff.
 * - lost: this execution may no longer write; never retried as it is.
 * - terminal: a person has to look; the job halts, or the request is refused.
 * - ended: no task threw it; an execution or a job was ended from outside.
 */
export type FailureFamily = 'held' | 'transient' | 'lost' | 'terminal' | 'ended'

/** The state in which an execution ends that fails: the names of the machine's Fail states. */
export type End = 'Rejected' | 'Refused' | 'Superseded' | 'Halted'

/** How an execution ends by a failure of StageSource, while nothing is locked yet, and by one of any later task. */
export type Ends = { readonly staging: End; readonly later: End }

/** The operator's exit kind where a call is answered with the failure, or a run is refused by it. */
type Untouched = 'Rejected' | 'Busy' | 'NotFound' | 'PlanMoved' | 'Unconfirmed'
type FailureExit = Untouched | 'Failed' | 'Usage' | 'Halted' | 'Unreachable'

/** A command that a remedy may name; `goOn` resumes the open job, or starts where none is open. */
export type RemedyCommand =
  | 'goOn'
  | 'show'
  | 'start'
  | 'supersede'
  | 'startOver'
  | 'list'
  | 'distributors'
  | 'setDistributor'

type Row = {
  /** Null: no execution meets it; it is an answer to an operator only. */
  readonly end: Ends | null
  readonly exit: FailureExit
  /** The store that does not do what it is asked, where it is one. */
  readonly store?: 'mysql' | 'valkey' | 's3'
  /** The remedy: a sentence without its end, which the command is put behind. */
  readonly advice: string
  readonly command: RemedyCommand
}
/** See decisions.md, "A failure is one row of a table". */
export type FailureEntry = Row & { readonly family: FailureFamily }

const REJECTED: Ends = { staging: 'Rejected', later: 'Halted' }
const REFUSED: Ends = { staging: 'Refused', later: 'Refused' }
const OVERTAKEN: Ends = { staging: 'Refused', later: 'Superseded' }
const HALTED: Ends = { staging: 'Refused', later: 'Halted' }

const rows = <Name extends string>(
  family: FailureFamily,
  table: Readonly<Record<Name, Row>>,
): Readonly<Record<Name, FailureEntry>> =>
  Object.fromEntries(Object.entries<Row>(table).map(([name, row]) => [name, { family, ...row }])) as Record<
    Name,
    FailureEntry
  >

const HELD = rows('held', {
  LockHeld: {
    end: REFUSED,
    exit: 'Busy',
    command: 'show',
    advice:
      'See whether the run that holds the slice still goes on, or left its lock behind; a start can also wait for it',
  },
  LockAwaited: { end: REFUSED, exit: 'Busy', command: 'show', advice: 'See which run has held the slice for hours' },
  LockTaken: {
    end: HALTED,
    exit: 'Busy',
    command: 'goOn',
    advice: 'Another run held the slice for too long; once that one has ended, go on',
  },
})

const outage = (store: Row['store'], advice: string): Row => ({
  end: HALTED,
  exit: 'Unreachable',
  ...(store === undefined ? {} : { store }),
  advice,
  command: 'goOn',
})

const TRANSIENT = rows('transient', {
  DatabaseUnreachable: outage('mysql', 'When MySQL answers again, go on'),
  DatabaseBlocked: {
    ...outage('mysql', 'When the session that the cause names has ended, go on'),
    exit: 'Busy',
  },
  ReadersInTheWay: {
    ...outage(undefined, 'When the transaction of the reader that the cause names has ended, go on'),
    exit: 'Busy',
  },
  DatabaseFull: outage('mysql', 'When MySQL has room again, go on'),
  DatabaseReadOnly: outage('mysql', 'When MySQL takes writes again, go on'),
  DatabaseLoginRefused: outage('mysql', 'When MySQL lets the functions in again, go on'),
  LockUnreachable: outage('valkey', 'When Valkey answers again, go on'),
  LockRefused: outage('valkey', 'Do what the cause says about Valkey, then go on'),
  StorageUnreachable: outage('s3', 'When S3 answers again, go on'),
  OutOfTime: outage(undefined, 'A store was too slow for the time of a task; when it is fast again, go on'),
  // Told to what an ended invocation left behind in its sandbox; nobody waits for its answer any more.
  InvocationOver: outage(undefined, 'A task was answered for before it had ended; go on'),
})

const overtaken = (command: RemedyCommand, advice: string): Row => ({
  end: OVERTAKEN,
  exit: 'Halted',
  command,
  advice,
})

const LOST = rows('lost', {
  LockLost: { end: HALTED, exit: 'Halted', command: 'goOn', advice: 'The lock was lost several times; go on' },
  StaleFence: overtaken('show', 'Another run took over, or somebody stopped this one; look at the newest job'),
  Superseded: overtaken('show', 'Another run took over; look at the newest job'),
  ExecutionEnded: overtaken('goOn', 'It was stopped or unlocked before it began; go on when you are ready'),
})

const rejected = (exit: FailureExit, command: RemedyCommand, advice: string): Row => ({
  end: REJECTED,
  exit,
  command,
  advice,
})
const halted = (command: RemedyCommand, advice: string): Row => ({ end: HALTED, exit: 'Halted', command, advice })

const TERMINAL = rows('terminal', {
  InvalidInput: rejected('Usage', 'start', 'The request was wrong and nothing was touched; start again'),
  UnknownDistributor: rejected(
    'NotFound',
    'distributors',
    'See the codes, which are case-sensitive; a new one is added before its first file',
  ),
  SourceMissing: rejected('NotFound', 'start', 'The file is not in the bucket; start it from where you have it'),
  SourceRejected: rejected('Rejected', 'start', 'Nothing was touched; correct the file and start it again'),
  WarningsUnconfirmed: rejected(
    'Unconfirmed',
    'start',
    'Nothing was touched; start again, and confirm each warning where the file is right all the same',
  ),
  NothingToUndo: rejected('NotFound', 'show', 'There is no earlier set; see what there is'),
  PlanMoved: {
    end: { staging: 'Rejected', later: 'Refused' },
    exit: 'PlanMoved',
    command: 'start',
    advice: 'Nothing was touched; look at the new plan and start again',
  },
  StagedSourceDamaged: rejected(
    'Rejected',
    'start',
    'Start the very file of that set again, which writes anew what is missing',
  ),
  JobOpenError: {
    end: REFUSED,
    exit: 'Busy',
    command: 'supersede',
    advice: 'Resume the open job as it is, or close it and begin with your file',
  },
  ChunkMismatch: halted('startOver', 'Another program wrote to the slice; stop it, then start over'),
  SliceNotEmpty: halted('goOn', 'Rows were left over; go on'),
  SliceKeepsFilling: halted('goOn', 'Another program keeps inserting; stop it, then go on'),
  SliceMismatch: halted('startOver', 'Another program wrote to the slice; stop it, then start over'),
  ChunksUnfinished: halted('goOn', 'Some chunks are not registered; go on'),
  DatabaseMisconfigured: outage('mysql', 'Do what the cause says about MySQL, then go on'),
  DatabaseRefused: {
    ...halted('goOn', 'Find out what the error means for this database, then go on'),
    exit: 'Failed',
    store: 'mysql',
  },
  ConstraintRefused: {
    ...halted('goOn', 'Remove the foreign key, trigger or check of the other program, then go on'),
    exit: 'Failed',
    store: 'mysql',
  },
  LockMisconfigured: outage('valkey', 'Do what the cause says about Valkey, then go on'),
})

const ANSWERS = rows('terminal', {
  UnknownJob: { end: null, exit: 'NotFound', command: 'list', advice: 'See which slices have jobs' },
  NotLocked: { end: null, exit: 'NotFound', command: 'show', advice: 'See what there is of the slice' },
  NotOpen: { end: null, exit: 'NotFound', command: 'show', advice: 'See what there is of the slice' },
  NotShown: { end: null, exit: 'NotFound', command: 'show', advice: 'See which set is read, and of which job' },
  LockChanged: { end: null, exit: 'Busy', command: 'show', advice: 'Look again before you unlock' },
  DistributorExists: { end: null, exit: 'Usage', command: 'setDistributor', advice: 'Change it instead of adding it' },
})

const ENDED = rows('ended', {
  ExecutionABORTED: halted('goOn', 'Somebody stopped the execution; go on when you are ready'),
  ExecutionTIMED_OUT: halted('goOn', 'It ran for longer than a run may; go on'),
  ExecutionFAILED: halted('goOn', 'Its execution failed before it could halt the job; go on'),
  Abandoned: halted('goOn', 'Its execution was gone; go on'),
  Stopped: halted('goOn', 'An operator stopped it; go on when you are ready'),
  Unlocked: halted('goOn', 'An operator unlocked the slice; go on when you are ready'),
})

const THROWN = { ...HELD, ...TRANSIENT, ...LOST, ...TERMINAL, ...ANSWERS } as const

/** A failure that is thrown, and what ends an execution or a job without one. */
export type FailureName = keyof typeof THROWN
export type EndName = keyof typeof ENDED

export const FAILURES: Readonly<Record<FailureName | EndName, FailureEntry>> = { ...THROWN, ...ENDED }

/** Every name that may be thrown, in the order of the table. */
export const FAILURE_NAMES = Object.keys(THROWN) as readonly FailureName[]

/** The thrown names of a family, in the order of the table. */
export const failuresOf = (family: FailureFamily): FailureName[] =>
  FAILURE_NAMES.filter((name) => FAILURES[name].family === family)

/** The thrown names by which an execution ends so. */
export const failuresEnding = (when: keyof Ends, end: End): FailureName[] =>
  FAILURE_NAMES.filter((name) => FAILURES[name].end?.[when] === end)

/** The row of a name, which may be anything that Lambda or Step Functions calls an error. */
export const failureNamed = (name: string): FailureEntry | undefined =>
  Object.hasOwn(FAILURES, name) ? FAILURES[name as FailureName] : undefined
