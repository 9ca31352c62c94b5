import { setTimeout as sleep } from 'node:timers/promises'
import { FAILURE_NAMES } from '../../../functions/contract/failure-table.ts'
import { Recording } from '../../model/replay/record.ts'
import { refusalText, replay } from '../../model/replay/replay.ts'
import type { Ended } from '../../support/ended.ts'
import type { FaultTarget } from '../../support/fault-target.ts'
import { beforeTask } from '../../support/faults.ts'
import type { Statement } from '../../support/relay.ts'
import { type Beginning, begin } from './beginning.ts'
import type { Combination } from './combination.ts'
import { atMost, type Fault, nameOf, startAgain, type Trial } from './fault.ts'
import type { FaultLab } from './fault-lab.ts'
import { judge, NEIGHBOUR, neighboursOf, type SliceEnd, sliceEndOf } from './judge.ts'

/** Ten chunks are several Map items: two lanes. */
const NEW_ROWS = 250
const CHUNK_ROWS = 25

/** A run that takes longer hangs: no wait in the code is as long, and retries follow at once here. */
const RUN_MS_MAX = 75_000
const LATE_MS_MAX = 30_000

export type Result = {
  readonly fault: string
  readonly moment: string
  readonly beginning: Beginning
  readonly outcome: string
  readonly violations: readonly string[]
  readonly ms: number
}

const setUp = async (lab: FaultLab, { fault, moment, beginning }: Combination): Promise<Trial> => {
  const { on } = lab
  const slice = await on.newSlice()
  const recording = await Recording.start(lab, slice)
  // The months beside it, in the same index pages.
  for (const month of neighboursOf(slice)) await on.seed(month, NEIGHBOUR)
  const file = lab.newFile(NEW_ROWS)
  const before = await begin(lab, slice, beginning, moment, file)
  const source = await on.stage(file, CHUNK_ROWS)
  const trial: Trial = {
    ...{
      lab,
      on,
      moment,
      slice,
      recording,
      arn: '',
      call: undefined,
      runs: [],
      lateCalls: [],
      violations: [],
      files: [file],
      before,
    },
    request: {
      source: moment.needs === 'undo' ? { undo: true } : source,
      onOutage: moment.needs === 'outage' ? 'proceed' : 'halt',
    },
    repair: async () => undefined,
  }
  if (moment.needs === 'outage') {
    const outage = on.lockRelay.arm({ task: 'AcquireLock', moment: 'before', times: 1_000, act: (at) => at.cut() })
    trial.repair = async () => outage.disarm()
  }
  if (moment.needs === 'failure') {
    const key = `staged/${source.staged}/000005.tsv`
    const body = await on.get(key)
    beforeTask(on, 'BeginRegistering', slice, () => on.put(key, body.slice(0, -20)))
    trial.repair = () => on.put(key, body)
  }
  await fault.prepare?.(trial)
  return trial
}

/** What happened is what the model of the protocol can do: see docs/model.md. */
const disagreements = async ({ recording, before }: Trial, { takesBack }: Fault): Promise<string[]> => {
  const events = await recording.stop({ withLooks: takesBack !== true })
  const refused = await replay(events, before.mode)
  return refused === undefined ? [] : [refusalText(refused, events)]
}

type Armed = { readonly isHit: () => boolean; readonly over: Promise<unknown> }

/** Arms the fault; it is over when what goes on beside the run is. What fails in it fails the trial. */
const arm = (fault: Fault, trial: Trial, started: Promise<unknown>): Armed => {
  let isHit = false
  const failing = (error: unknown) => void trial.violations.push(`the fault itself failed: ${textOf(error)}`)
  if (fault.await !== undefined) {
    const hit = fault.await(trial).then(() => {
      isHit = true
    })
    return { isHit: () => isHit, over: hit.catch(failing) }
  }
  const { on, sql, when, skip } = fault.place?.(trial.moment) ?? trial.moment.place
  const act = async (at: Statement | FaultTarget): Promise<void> => {
    isHit = true
    // The run may come here before StartExecution has answered.
    await started
    trial.call = trial.lab.callOf(at.pid)
    await Promise.resolve(fault.strike?.(trial, at)).catch(failing)
  }
  const wire = { task: trial.moment.task, moment: when, act }
  const { hit } = on === 'database' ? trial.on.relay.arm({ ...wire, sql, skip }) : trial.on.lockRelay.arm(wire)
  const over = hit.then((at: Statement | FaultTarget) => fault.beside?.(trial, at)).catch(failing)
  return { isHit: () => isHit, over }
}

const play = async (fault: Fault, trial: Trial): Promise<Ended> => {
  const { on } = trial
  const { promise: started, resolve } = Promise.withResolvers<void>()
  const { isHit, over } = arm(fault, trial, started)
  trial.arn = (await fault.begin?.(trial)) ?? (await on.start({ ...trial.slice, ...trial.request }))
  trial.runs.push(nameOf(trial.arn))
  resolve()
  const end = await on.ended(trial.arn, fault.runMs ?? RUN_MS_MAX)
  if (isHit()) await over
  else trial.violations.push(`the moment never came: the run ended as ${end.status} ${end.error ?? ''} ${end.cause}`)
  await fault.heal?.(trial, end)
  await trial.repair()
  await atMost(LATE_MS_MAX, Promise.all(trial.lateCalls))
  await quiet(trial)
  return end
}

/** Nobody works any more; who was abandoned and has answered by now is put away. */
const quiet = async ({ on, violations }: Trial): Promise<void> => {
  const { lambda } = on.stack
  const deadline = Date.now() + LATE_MS_MAX
  await lambda.settled()
  while (lambda.sandboxes.some(({ state }) => state === 'busy' || state === 'starting')) {
    if (Date.now() > deadline) {
      violations.push('a function is still at work long after its run')
      break
    }
    await sleep(20)
  }
  await Promise.all(lambda.sandboxes.filter(({ state }) => state !== 'idle').map((one) => one.end()))
  on.disarm()
}

/** How the run ended, and where it did not end well, whether the same file again ends it. */
const settle = async (trial: Trial, end: Ended, { withdraws }: Fault): Promise<string> => {
  const { lab, on, slice, before, violations } = trial
  const first = await sliceEndOf(lab, slice, before.job)
  const told = end.status === 'SUCCEEDED' ? 'succeeded' : (end.error ?? end.status)
  if (end.status === 'SUCCEEDED' && first !== 'settled' && !(withdraws === true && first === 'withdrawn'))
    violations.push(`the run succeeded over a slice that is ${first}`)
  if (!NAMED.has(told)) violations.push(`the run ended by ${told}, which no operator knows: ${end.cause}`)
  violations.push(...(await judge(trial)))
  if (first === 'settled') return end.status === 'SUCCEEDED' ? 'exact' : `${told}; exact by another run`
  const resumed = await on.ended(await startAgain(trial), RUN_MS_MAX)
  await quiet(trial)
  const last = await sliceEndOf(lab, slice, before.job)
  violations.push(...(await judge(trial)))
  if (resumed.status === 'SUCCEEDED' && last === 'settled') return `${told}; ${SLICE_ENDS[first]}; exact when run again`
  violations.push(
    `run again it ended as ${resumed.status} ${resumed.error ?? ''} ${resumed.cause}: ${SLICE_ENDS[last]}`,
  )
  return `${told}; ${SLICE_ENDS[first]}; ${SLICE_ENDS[last]} when run again`
}

/** How a run may end: by a failure of the table, stopped, out of time, or with a sandbox that always died. */
const NAMED = new Set(['succeeded', 'ABORTED', 'TIMED_OUT', 'Lambda.Unknown', ...FAILURE_NAMES])

const SLICE_ENDS: Record<SliceEnd, string> = {
  settled: 'settled',
  withdrawn: 'withdrawn',
  halted: 'halted',
  open: 'left open',
  untouched: 'nothing begun',
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Runs one trial in a lab that is the trial's own until it ends. */
export const runTrial = async (lab: FaultLab, combination: Combination): Promise<Result> => {
  const { fault, moment, beginning } = combination
  const startedAt = performance.now()
  const found: string[] = []
  let outcome = 'broken off'
  try {
    const trial = await setUp(lab, combination)
    const stopReading = lab.reader.start(() => [
      { slice: trial.slice, mode: trial.before.mode },
      { slice: lab.bystander.slice, mode: 'standby' },
    ])
    try {
      outcome = await settle(trial, await play(fault, trial), fault)
    } finally {
      found.push(...trial.violations, ...(await stopReading()), ...(await disagreements(trial, fault)))
      lab.on.disarm()
    }
  } catch (error) {
    found.push(`broken off: ${textOf(error)}`)
    await lab.restore()
  }
  const violations = [...new Set(found)]
  const ms = performance.now() - startedAt
  return {
    fault: fault.id,
    moment: moment.id,
    beginning,
    outcome: violations.length > 0 ? `VIOLATED (${outcome})` : outcome,
    violations,
    ms,
  }
}
