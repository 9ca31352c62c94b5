import { answerOf, callAgain, pause } from '../../../support/faults.ts'
import { atMost, type Fault, hitCall, startAgain, type Trial } from '../fault.ts'

/* What may happen to the process that serves a task. */

/** Longer than a raise waits before it kills who blocks it (2 s): a frozen sandbox may hold rows of MySQL. */
const MEANWHILE_MS = 4_000

const expireLock = async ({ on, slice }: Trial): Promise<void> => {
  await on.valkey.del(on.lockKey(slice))
}

const killed: Fault = {
  id: 'lambda-killed',
  title: 'Lambda killed (SIGKILL)',
  suits: () => true,
  strike: (_, at) => at.kill(),
}

const stopped: Fault = {
  id: 'lambda-stopped',
  title: "Lambda stopped past the lock's TTL, continued",
  suits: () => true,
  strike: async (trial, at) => {
    at.freeze()
    await expireLock(trial)
  },
  beside: async (_, at) => {
    await pause(100)
    at.thaw()
  },
}

const overtaken: Fault = {
  id: 'lambda-overtaken',
  title: "Lambda stopped past the lock's TTL, another run meanwhile, continued",
  suits: () => true,
  strike: async (trial, at) => {
    at.freeze()
    trial.lateCalls.push(answerOf(trial.on, at.pid))
    await expireLock(trial)
  },
  beside: async (trial, at) => {
    const second = trial.on.ended(await startAgain(trial))
    await atMost(MEANWHILE_MS, second)
    at.thaw()
    await second
  },
}

/** Tasks of which a run has one at a time, and that change the job: nobody else of the run can find out first. */
const ALONE = ['plan-delete', 'mark-deleted', 'begin-registering', 'mark-registered', 'reuse-set']

const outlived: Fault = {
  id: 'lambda-outlived',
  title: "Lambda stopped past the lock's TTL until another run has ended, continued",
  suits: ({ id }) => ALONE.includes(id),
  strike: async (trial, at) => {
    at.freeze()
    trial.lateCalls.push(answerOf(trial.on, at.pid))
    await expireLock(trial)
  },
  beside: async (trial, at) => {
    await trial.on.ended(await startAgain(trial))
    at.thaw()
  },
}

const twice: Fault = {
  id: 'lambda-twice',
  title: 'Lambda run twice at once',
  suits: () => true,
  strike: (trial, at) => {
    trial.lateCalls.push(callAgain(trial.on, hitCall(trial, at)))
  },
}

const timedOut: Fault = {
  id: 'lambda-timed-out',
  title: 'Lambda timed out and left running',
  suits: () => true,
  strike: (trial, at) => {
    at.freeze()
    trial.lateCalls.push(answerOf(trial.on, at.pid))
    trial.on.stack.lambda.sandboxes.find((one) => one.pid === at.pid)?.timeOut()
  },
  beside: async (trial, at) => {
    await atMost(MEANWHILE_MS, trial.on.ended(trial.arn))
    at.thaw()
  },
}

export const LAMBDA_FAULTS: readonly Fault[] = [killed, stopped, overtaken, outlived, twice, timedOut]
