import type { Recording } from '../../model/replay/record.ts'
import type { Ended } from '../../support/ended.ts'
import type { FaultTarget } from '../../support/fault-target.ts'
import type { Statement } from '../../support/relay.ts'
import type { ShareFile } from '../../support/share-file.ts'
import type { TestSlice, TestStack } from '../../support/test-stack.ts'
import type { Call } from '../../support/timeline.ts'
import type { Before, Beginning } from './beginning.ts'
import type { FaultLab } from './fault-lab.ts'
import type { Moment, Place } from './moments.ts'

/** One fault at one moment, under way. */
export type Trial = {
  readonly lab: FaultLab
  readonly on: TestStack
  readonly moment: Moment
  readonly slice: TestSlice
  /** Everything that happens to the slice, in its order. */
  readonly recording: Recording
  /** What StartExecution is given; a resume is given the same. */
  request: Record<string, unknown>
  /** What the slice may hold in the end: the file, or each version of it where it is replaced under way. */
  files: ShareFile[]
  readonly before: Before
  /** The run's ARN, once it is started. */
  arn: string
  /** What was hit: the task and its input. */
  call: Call | undefined
  /** Names of the executions that worked on the slice. */
  readonly runs: string[]
  /** What goes on beside the run and has to end before anything is judged: late answers, second runs. */
  readonly lateCalls: Promise<unknown>[]
  /** Puts right what the moment itself needed to be broken. */
  repair: () => Promise<void>
  readonly violations: string[]
}

/** A fault strikes where it is told to, and is over when the run has ended. */
export type Fault = {
  readonly id: string
  readonly title: string
  /** Where it makes a difference. */
  readonly suits: (moment: Moment) => boolean
  /** Where on the wire, if not at the moment's own place. */
  readonly place?: (moment: Moment) => Place
  /** How long a run may take under it, ms, where it is longer than any other may. */
  readonly runMs?: number
  /** How the slice may be before the run, where that is not as it comes. */
  readonly beginnings?: readonly Beginning[]
  /** It may take what the run registered from the readers. */
  readonly withdraws?: true
  /** It takes back what was committed, and with it what readers have seen of it. */
  readonly takesBack?: true
  /** Before the run is started. */
  readonly prepare?: (trial: Trial) => Promise<void>
  /** Waits for the moment where it is not on the wire of MySQL or Valkey. */
  readonly await?: (trial: Trial) => Promise<unknown>
  /** Starts the run another way; the answer is its ARN. */
  readonly begin?: (trial: Trial) => Promise<string>
  /** At the moment; what waits there goes on afterwards. */
  readonly strike?: (trial: Trial, at: Statement | FaultTarget) => unknown
  /** Beside the run, once it has hit. */
  readonly beside?: (trial: Trial, at: Statement | FaultTarget) => Promise<void>
  /** When the run has ended. */
  readonly heal?: (trial: Trial, end: Ended) => Promise<void>
}

/** The call that was hit. */
export const hitCall = ({ lab }: Trial, { pid }: FaultTarget): Call => {
  const call = lab.callOf(pid)
  if (call === undefined) throw new Error(`Nobody called the sandbox ${pid}`)
  return call
}

/** A statement can be played with in ways in which a lock command cannot. */
export const statementOf = (at: Statement | FaultTarget): Statement => {
  if ('strand' in at) return at
  throw new Error('This fault hits at statements only')
}

export const onDatabase = ({ place }: Moment): boolean => place.on === 'database'

/** Starts the same request once more, as an operator or the schedule would. */
export const startAgain = async (trial: Trial): Promise<string> => {
  await trial.repair()
  // Once the first undo is done, another one takes that back.
  if (trial.moment.needs === 'undo') trial.files.push(trial.before.old)
  const arn = await trial.on.start({ ...trial.slice, ...trial.request })
  trial.runs.push(nameOf(arn))
  return arn
}

export const nameOf = (arn: string): string => arn.slice(arn.lastIndexOf(':') + 1)

/**
 * Holds the next run at a place until `act` is done. Sandboxes of the first run may come to the same place; they pass.
 *
 * @returns settles when the next run has come there
 */
export const holdNext = (
  trial: Trial,
  place: Place & { readonly task: string },
  act: () => Promise<unknown>,
): Promise<void> => {
  const { promise: reached, resolve } = Promise.withResolvers<void>()
  const before = new Set(trial.lab.calls.map(({ event }) => tokenIn(event)))
  let seen = 0
  trial.on.relay.arm({
    ...{ task: place.task, sql: place.sql, moment: place.when, times: 10_000 },
    act: async ({ pid }) => {
      const token = tokenIn(trial.lab.callOf(pid)?.event)
      if (token === undefined || before.has(token)) return
      seen += 1
      if (seen !== place.skip + 1) return
      resolve()
      await act()
    },
  })
  return reached
}

const tokenIn = (event: unknown): string | undefined => (event as { lock?: { token: string } } | undefined)?.lock?.token

/** A run that has not ended yet, and what has to happen in it: nothing may come of it where the run ends first. */
export const orEnd = async ({ on }: Trial, arn: string, what: Promise<unknown>): Promise<void> => {
  await Promise.race([what, on.stack.engine.execution(arn).ended])
}

/** Waits, but not for ever: what is waited for may wait for the fault's end itself. */
export const atMost = async (ms: number, what: Promise<unknown>): Promise<void> => {
  const { promise: expired, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([what, expired]).finally(() => clearTimeout(timer))
}
