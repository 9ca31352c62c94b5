import { pause } from '../../../support/faults.ts'
import { atMost, type Fault, holdNext, nameOf, orEnd, startAgain, type Trial } from '../fault.ts'
import { letLockExpire } from '../judge.ts'
import type { Moment, Place } from '../moments.ts'

/* EventBridge delivers at least once and in no order, and what it gives up it gives up in silence. */

/** A HaltJob that decides to do nothing takes milliseconds, one that raises a fence waits for it. */
const HALT_MS = 8_000

/** Where the next run is met in the middle of its work, without a transaction of its own. */
const MEETING: Place & { readonly task: string } = {
  ...{ task: 'RegisterChunk', on: 'database', sql: /for share$/, when: 'before', skip: 2 },
}

/** A job is open, or about to be. */
const OPENED = ['open-job', 'delete-chunk', 'register-chunk-after-write']
const opened = ({ id }: Moment): boolean => OPENED.includes(id)

/** In AWS 90 days at least. Status events tell a start to the second. */
const SECOND_LIFE_MS = 2_100

const deliveries = new WeakMap<Trial, () => void>()

/** Stops the run; its event goes this way. */
const stop = (trial: Trial, way: (deliver: () => void) => void): Promise<void> => {
  trial.lab.onStatusEvent((deliver) => {
    deliveries.set(trial, deliver)
    way(deliver)
  })
  return trial.on.stop(trial.arn)
}

/** The next run, in whose middle the event of the first is delivered, ends well. */
const meetNext = async (trial: Trial, begin: () => Promise<string>): Promise<void> => {
  const { on, lab, slice, violations } = trial
  lab.onStatusEvent()
  violations.push(...(await letLockExpire(lab, slice, trial.runs)))
  const reached = holdNext(trial, MEETING, async () => {
    deliveries.get(trial)?.()
    await atMost(HALT_MS, on.stack.lambda.settled())
  })
  const arn = await begin()
  await orEnd(trial, arn, reached)
  const { status, error, cause } = await on.ended(arn)
  if (status !== 'SUCCEEDED') violations.push(`the next run was ended by an old status event: ${error} ${cause}`)
}

const never: Fault = {
  id: 'status-event-never',
  title: 'Execution stopped, its status event never delivered',
  suits: (moment) => opened(moment) || moment.id === 'mark-registered',
  strike: (trial) => stop(trial, () => undefined),
  heal: async ({ lab }) => lab.onStatusEvent(),
}

const twice: Fault = {
  id: 'status-event-twice',
  title: 'Execution stopped, its status event delivered twice at once, and again in the middle of the next run',
  suits: opened,
  strike: (trial) =>
    stop(trial, (deliver) => {
      deliver()
      deliver()
    }),
  heal: (trial) => meetNext(trial, () => startAgain(trial)),
}

const late: Fault = {
  id: 'status-event-late',
  title: 'Execution stopped, its status event delivered in the middle of the next run only',
  suits: opened,
  strike: (trial) => stop(trial, () => undefined),
  heal: (trial) => meetNext(trial, () => startAgain(trial)),
}

const reused: Fault = {
  id: 'status-event-reused',
  title: "Execution stopped, its status event delivered when its name is another execution's, in the middle of that",
  suits: opened,
  strike: (trial) => stop(trial, () => undefined),
  heal: (trial) =>
    meetNext(trial, async () => {
      await pause(SECOND_LIFE_MS)
      trial.on.stack.engine.forget(trial.arn)
      return await trial.on.start({ ...trial.slice, ...trial.request }, nameOf(trial.arn))
    }),
}

export const STATUS_EVENT_FAULTS: readonly Fault[] = [never, twice, late, reused]
