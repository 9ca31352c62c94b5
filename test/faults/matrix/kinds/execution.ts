import { isDeepStrictEqual } from 'node:util'
import type { Ended } from '../../../support/ended.ts'
import { answerOf, callAgain, pause } from '../../../support/faults.ts'
import { fingerprintOf, jobsOf, lockOf } from '../../../support/invariants.ts'
import { atMost, type Cell, type Fault, nameOf, startAgain } from '../fault.ts'
import { letLockExpire } from '../judge.ts'
import type { Moment } from '../moments.ts'
import type { World } from '../world.ts'

/* What may happen to an execution, and to the schedule that starts it. */

/** An execution's end and its status event take less; a slower one hinders nobody. */
const END_MS_MAX = 6_000

/**
 * A fault that came too late is none, and its cell shows nothing. A lock that no job carries yet lasts until its TTL:
 * its fence can't be raised, so nobody else may release it. From then on the status event leaves none.
 */
export const expectEnd = async (
  { on, slice, moment, violations }: Cell,
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
  heal: async (cell, end) => expectEnd(cell, end, 'ABORTED'),
}

const BEFORE_JOB: readonly string[] = ['AcquireLock', 'ReadHead', 'OpenJob']

/** The machine with a short timeout that each cell's run is started on. */
const machines = new WeakMap<Cell, string>()

const timesOfRun = new WeakMap<World, number>()

/** How long a run takes here that nothing happens to, s. */
const timeOfRun = async ({ world, on }: Cell): Promise<number> => {
  const known = timesOfRun.get(world)
  if (known !== undefined) return known
  const startedAt = performance.now()
  await on.run({ ...(await on.newSlice()), source: await on.stage(world.newFile(250), 25) })
  const seconds = (performance.now() - startedAt) / 1_000
  timesOfRun.set(world, seconds)
  return seconds
}

const timedOut: Fault = {
  id: 'execution-timed-out',
  title: 'Execution timed out (its TimeoutSeconds lowered to a few times what a run takes)',
  suits: () => true,
  prepare: async (cell) => {
    const { engine, machineArn } = cell.on.stack
    const TimeoutSeconds = Math.ceil(1 + 3 * (await timeOfRun(cell)))
    const short = `${machineArn}-${TimeoutSeconds}s`
    engine.host(short, { ...engine.machine(machineArn).definition, TimeoutSeconds })
    machines.set(cell, short)
  },
  begin: async (cell) => await cell.on.start({ ...cell.slice, ...cell.request }, undefined, machines.get(cell)),
  strike: async ({ on, arn }, at) => {
    // A statement that only waited would end by its own timeout.
    at.freeze()
    const { machine, ended } = on.stack.engine.execution(arn)
    await atMost(Number(machine.definition.TimeoutSeconds) * 1_000 + END_MS_MAX, ended)
    at.thaw()
  },
  heal: async (cell, end) => expectEnd(cell, end, 'TIMED_OUT'),
}

/** Everything that MySQL knows of the slice. */
const everything = async ({ on, slice }: Cell) => ({
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
  strike: async (cell, at) => {
    await cell.on.stop(cell.arn)
    cell.late.push(answerOf(cell.on, at.pid))
  },
  heal: async (cell) => {
    const { call } = cell
    await atMost(END_MS_MAX, Promise.all(cell.late))
    await cell.on.stack.lambda.settled()
    // Stopped behind MarkRegistered, a run leaves its lock to the TTL.
    cell.violations.push(...(await letLockExpire(cell.world, cell.slice, cell.runs)))
    const next = await cell.on.ended(await startAgain(cell))
    if (next.status !== 'SUCCEEDED') cell.violations.push(`the other run failed: ${next.error} ${next.cause}`)
    const before = await everything(cell)
    if (call === undefined) cell.violations.push('nothing is recorded that could be redriven')
    else await callAgain(cell.on, call)
    if (!isDeepStrictEqual(await everything(cell), before)) cell.violations.push('the redriven task changed something')
  },
}

const SCHEDULED = JSON.stringify({ scheduledAt: '2026-11-09T17:00:00Z' })

/** One delivery of the schedule, to the end of its dispatch. */
const deliver = async ({ on, violations }: Cell): Promise<void> => {
  const { engine, machineArns } = on.stack
  const arn = Object.entries(machineArns).find(([name]) => name.startsWith('Dispatch'))?.[1] ?? ''
  const dispatch = engine.start(arn, SCHEDULED)
  await dispatch.ended
  if (dispatch.status !== 'SUCCEEDED') violations.push(`the dispatch ended as ${dispatch.status} ${dispatch.error}`)
}

const scheduledRuns = ({ on, slice }: Cell) =>
  on.stack.engine.executions(on.stack.machineArn).filter(({ name }) => name.startsWith(`${slice.distributor}-`))

const waitForStart = async (cell: Cell): Promise<string> => {
  for (;;) {
    const [run] = scheduledRuns(cell)
    if (run !== undefined) return run.arn
    await new Promise((resume) => setTimeout(resume, 10))
  }
}

const delivered = ({ inChunk, needs }: Moment): boolean => !inChunk && needs === 'nothing'

const scheduledTwice: Fault = {
  id: 'schedule-twice',
  title: 'Schedule delivered again while the run is under way, and once more when it has ended',
  suits: delivered,
  place: ({ place }) => ({ ...place, skip: 0 }),
  prepare: async (cell) => {
    const { on, slice, files } = cell
    await on.outside.query('update distributor set active = (code = ?)', [slice.distributor])
    await on.put(`incoming/${slice.distributor}/${slice.month}.csv`, files[0]?.csv ?? '')
  },
  begin: async (cell) => {
    cell.late.push(deliver(cell))
    return await waitForStart(cell)
  },
  strike: async (cell) => await deliver(cell),
  heal: async (cell) => {
    await deliver(cell)
    const runs = scheduledRuns(cell)
    if (runs.length !== 1) cell.violations.push(`${runs.length} executions were started`)
    const jobs = await jobsOf(cell.on, cell.slice)
    if (jobs.length !== 1 || jobs[0]?.fence !== 1) cell.violations.push(`the month was begun ${jobs.length} times`)
    if (runs[0] !== undefined && nameOf(runs[0].arn) !== cell.runs[0]) cell.violations.push('another run was started')
  },
}

export const EXECUTION_FAULTS: readonly Fault[] = [stopped, timedOut, redriven, scheduledTwice]
