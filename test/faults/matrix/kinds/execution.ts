import { isDeepStrictEqual } from 'node:util'
import type { Ended } from '../../../support/ended.ts'
import { answerOf, callAgain, pause } from '../../../support/faults.ts'
import { fingerprintOf, jobsOf, lockOf } from '../../../support/invariants.ts'
import { atMost, type Fault, nameOf, startAgain, type Trial } from '../fault.ts'
import type { FaultLab } from '../fault-lab.ts'
import { letLockExpire } from '../judge.ts'
import type { Moment } from '../moments.ts'

/* What may happen to an execution, and to the schedule that starts it. */

/** An execution's end and its status event take less; a slower one hinders nobody. */
const END_MS_MAX = 6_000

/**
 * A fault that came too late is none, and its trial shows nothing. A lock that no job carries yet lasts until its TTL:
 * its fence can't be raised, so nobody else may release it. From then on the status event leaves none.
 */
export const expectEnd = async (
  { on, slice, moment, violations }: Trial,
  { status, error }: Ended,
  expected: string,
): Promise<void> => {
  if (status !== expected) violations.push(`the run ended as ${status} ${error ?? ''} and not as ${expected}`)
  const { lambda } = on.stack
  await lambda.settled()
  // Whom the end found at work goes on: a HaltJob releases the lock a moment after its fence is raised.
  const deadline = Date.now() + END_MS_MAX
  while (lambda.sandboxes.some(({ state }) => state === 'busy') && Date.now() < deadline) await pause(20)
  const lock = await lockOf(on, slice)
  if (lock !== null && !BEFORE_JOB.includes(moment.task)) violations.push(`the ended run left its lock, ${lock.token}`)
}

const stopped: Fault = {
  id: 'execution-stopped',
  title: 'Execution stopped (StopExecution)',
  suits: () => true,
  strike: async ({ on, arn }) => await on.stop(arn),
  heal: async (trial, end) => expectEnd(trial, end, 'ABORTED'),
}

const BEFORE_JOB: readonly string[] = ['AcquireLock', 'ReadHead', 'OpenJob']

/** The machine with a short timeout that each trial's run is started on. */
const machines = new WeakMap<Trial, string>()

const timesOfRun = new WeakMap<FaultLab, number>()

/** How long a run takes here that nothing happens to, s. */
const timeOfRun = async ({ lab, on }: Trial): Promise<number> => {
  const known = timesOfRun.get(lab)
  if (known !== undefined) return known
  const startedAt = performance.now()
  await on.run({ ...(await on.newSlice()), source: await on.stage(lab.newFile(250), 25) })
  const seconds = (performance.now() - startedAt) / 1_000
  timesOfRun.set(lab, seconds)
  return seconds
}

const timedOut: Fault = {
  id: 'execution-timed-out',
  title: 'Execution timed out (its TimeoutSeconds lowered to a few times what a run takes)',
  suits: () => true,
  prepare: async (trial) => {
    const { engine, machineArn } = trial.on.stack
    const TimeoutSeconds = Math.ceil(1 + 3 * (await timeOfRun(trial)))
    const short = `${machineArn}-${TimeoutSeconds}s`
    engine.host(short, { ...engine.machine(machineArn).definition, TimeoutSeconds })
    machines.set(trial, short)
  },
  begin: async (trial) => await trial.on.start({ ...trial.slice, ...trial.request }, undefined, machines.get(trial)),
  strike: async ({ on, arn }, at) => {
    // A statement that only waited would end by its own timeout.
    at.freeze()
    const { machine, ended } = on.stack.engine.execution(arn)
    await atMost(Number(machine.definition.TimeoutSeconds) * 1_000 + END_MS_MAX, ended)
    at.thaw()
  },
  heal: async (trial, end) => expectEnd(trial, end, 'TIMED_OUT'),
}

/** Everything that MySQL knows of the slice. */
const everything = async ({ on, slice }: Trial) => ({
  rows: await fingerprintOf(on, slice),
  jobs: await jobsOf(on, slice),
  ledger: await on.rows(
    'select c.* from job_chunk c join job j on j.id = c.job_id join distributor d on d.id = j.distributor_id where d.code = ?',
    [slice.distributor],
  ),
})

/**
 * The local engine does not redrive. What a redrive does first, and what must be refused, is to call the task that did
 * not succeed once more, with the input that the history recorded.
 */
const redriven: Fault = {
  id: 'execution-redriven',
  title: 'Execution stopped, the month done by another run, the task redriven with its recorded input',
  suits: ({ inChunk }) => !inChunk,
  strike: async (trial, at) => {
    await trial.on.stop(trial.arn)
    trial.lateCalls.push(answerOf(trial.on, at.pid))
  },
  heal: async (trial) => {
    const { call } = trial
    await atMost(END_MS_MAX, Promise.all(trial.lateCalls))
    await trial.on.stack.lambda.settled()
    // Stopped behind MarkRegistered, a run leaves its lock to the TTL.
    trial.violations.push(...(await letLockExpire(trial.lab, trial.slice, trial.runs)))
    const next = await trial.on.ended(await startAgain(trial))
    if (next.status !== 'SUCCEEDED') trial.violations.push(`the other run failed: ${next.error} ${next.cause}`)
    const before = await everything(trial)
    if (call === undefined) trial.violations.push('nothing is recorded that could be redriven')
    else await callAgain(trial.on, call)
    if (!isDeepStrictEqual(await everything(trial), before))
      trial.violations.push('the redriven task changed something')
  },
}

const SCHEDULED = JSON.stringify({ scheduledAt: '2026-11-09T17:00:00Z' })

/** One delivery of the schedule, to the end of its dispatch. */
const deliver = async ({ on, violations }: Trial): Promise<void> => {
  const { engine, machineArns } = on.stack
  const arn = Object.entries(machineArns).find(([name]) => name.startsWith('Dispatch'))?.[1] ?? ''
  const dispatch = engine.start(arn, SCHEDULED)
  await dispatch.ended
  if (dispatch.status !== 'SUCCEEDED') violations.push(`the dispatch ended as ${dispatch.status} ${dispatch.error}`)
}

const scheduledRuns = ({ on, slice }: Trial) =>
  on.stack.engine.executions(on.stack.machineArn).filter(({ name }) => name.startsWith(`${slice.distributor}-`))

const waitForStart = async (trial: Trial): Promise<string> => {
  for (;;) {
    const [run] = scheduledRuns(trial)
    if (run !== undefined) return run.arn
    await new Promise((resume) => setTimeout(resume, 10))
  }
}

const delivered = ({ inChunk, needs }: Moment): boolean => !inChunk && needs === 'nothing'

const scheduledTwice: Fault = {
  id: 'schedule-twice',
  beginnings: ['first'],
  title: 'Schedule delivered again while the run is under way, and once more when it has ended',
  suits: delivered,
  place: ({ place }) => ({ ...place, skip: 0 }),
  prepare: async (trial) => {
    const { on, slice, files } = trial
    await on.outside.query('update distributor set active = (code = ?)', [slice.distributor])
    await on.put(`incoming/${slice.distributor}/${slice.month}.csv`, files[0]?.csv ?? '')
  },
  begin: async (trial) => {
    trial.lateCalls.push(deliver(trial))
    return await waitForStart(trial)
  },
  strike: async (trial) => await deliver(trial),
  heal: async (trial) => {
    await deliver(trial)
    const runs = scheduledRuns(trial)
    if (runs.length !== 1) trial.violations.push(`${runs.length} executions were started`)
    const jobs = await jobsOf(trial.on, trial.slice)
    if (jobs.length !== 1 || jobs[0]?.fence !== 1) trial.violations.push(`the month was begun ${jobs.length} times`)
    if (runs[0] !== undefined && nameOf(runs[0].arn) !== trial.runs[0]) trial.violations.push('another run was started')
  },
}

export const EXECUTION_FAULTS: readonly Fault[] = [stopped, timedOut, redriven, scheduledTwice]
