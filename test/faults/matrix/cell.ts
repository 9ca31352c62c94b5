import { setTimeout as sleep } from 'node:timers/promises'
import { FAILURE_NAMES } from '../../../functions/contract/failure-table.ts'
import type { Ended } from '../../support/ended.ts'
import { beforeTask } from '../../support/faults.ts'
import type { Statement } from '../../support/relay.ts'
import { shareFile } from '../../support/share-file.ts'
import type { Struck } from '../../support/struck.ts'
import { atMost, type Cell, type Fault, nameOf, startAgain } from './fault.ts'
import { judge, NEIGHBOUR, neighboursOf, type Standing, standingOf } from './judge.ts'
import type { Moment } from './moments.ts'
import type { World } from './world.ts'

/** Ten chunks are several Map items: two lanes. */
const NEW_ROWS = 250
const CHUNK_ROWS = 25
const OLD = shareFile(150, 5)

/** A run that takes longer hangs: no wait in the code is as long, and retries follow at once here. */
const RUN_MS_MAX = 75_000
const LATE_MS_MAX = 30_000

export type Result = {
  readonly fault: string
  readonly moment: string
  readonly outcome: string
  readonly violations: readonly string[]
  readonly ms: number
}

const setUp = async (world: World, fault: Fault, moment: Moment): Promise<Cell> => {
  const { on } = world
  const slice = await on.newSlice()
  // The months beside it, in the same index pages.
  for (const month of neighboursOf(slice)) await on.seed(month, NEIGHBOUR)
  const isLarge = moment.inChunk && moment.task === 'DeleteChunk'
  if (isLarge) await world.seedLarge(slice)
  else await on.seed(slice, OLD)
  const oldFingerprint = isLarge ? world.largeFile.fingerprint : OLD.fingerprint
  const file = world.newFile(NEW_ROWS)
  const source = await on.stage(file, CHUNK_ROWS)
  const cell: Cell = {
    ...{
      world,
      on,
      moment,
      slice,
      arn: '',
      call: undefined,
      runs: [],
      late: [],
      violations: [],
      files: [file],
      oldFingerprint,
    },
    request: { source, onOutage: moment.needs === 'outage' ? 'proceed' : 'halt' },
    repair: async () => undefined,
  }
  if (moment.needs === 'outage') {
    const outage = on.lockRelay.arm({ task: 'AcquireLock', moment: 'before', times: 1_000, act: (at) => at.cut() })
    cell.repair = async () => outage.disarm()
  }
  if (moment.needs === 'failure') {
    const key = `staged/${source.staged}/000005.tsv`
    const body = await on.get(key)
    beforeTask(on, 'BeginRegistering', slice, () => on.put(key, body.slice(0, -20)))
    cell.repair = () => on.put(key, body)
  }
  await fault.prepare?.(cell)
  return cell
}

type Armed = { readonly isStruck: () => boolean; readonly over: Promise<unknown> }

/** Arms the fault; it is over when what goes on beside the run is. What fails in it fails the cell. */
const arm = (fault: Fault, cell: Cell, started: Promise<unknown>): Armed => {
  let isStruck = false
  const failing = (error: unknown) => void cell.violations.push(`the fault itself failed: ${textOf(error)}`)
  if (fault.await !== undefined) {
    const struck = fault.await(cell).then(() => {
      isStruck = true
    })
    return { isStruck: () => isStruck, over: struck.catch(failing) }
  }
  const { on, sql, when, skip } = fault.place?.(cell.moment) ?? cell.moment.place
  const act = async (at: Statement | Struck): Promise<void> => {
    isStruck = true
    // The run may come here before StartExecution has answered.
    await started
    cell.call = cell.world.callOf(at.pid)
    await Promise.resolve(fault.strike?.(cell, at)).catch(failing)
  }
  const wire = { task: cell.moment.task, moment: when, act }
  const { struck } = on === 'database' ? cell.on.relay.arm({ ...wire, sql, skip }) : cell.on.lockRelay.arm(wire)
  const over = struck.then((at: Statement | Struck) => fault.beside?.(cell, at)).catch(failing)
  return { isStruck: () => isStruck, over }
}

const play = async (fault: Fault, cell: Cell): Promise<Ended> => {
  const { on } = cell
  const { promise: started, resolve } = Promise.withResolvers<void>()
  const { isStruck, over } = arm(fault, cell, started)
  cell.arn = (await fault.begin?.(cell)) ?? (await on.start({ ...cell.slice, ...cell.request }))
  cell.runs.push(nameOf(cell.arn))
  resolve()
  const end = await on.ended(cell.arn, fault.runMs ?? RUN_MS_MAX)
  if (isStruck()) await over
  else cell.violations.push(`the moment never came: the run ended as ${end.status} ${end.error ?? ''} ${end.cause}`)
  await fault.heal?.(cell, end)
  await cell.repair()
  await atMost(LATE_MS_MAX, Promise.all(cell.late))
  await quiet(cell)
  return end
}

/** Nobody works any more; who was abandoned and has answered by now is put away. */
const quiet = async ({ on, violations }: Cell): Promise<void> => {
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
const settle = async (cell: Cell, end: Ended): Promise<string> => {
  const { world, on, slice, violations } = cell
  const first = await standingOf(world, slice)
  const told = end.status === 'SUCCEEDED' ? 'succeeded' : (end.error ?? end.status)
  if (end.status === 'SUCCEEDED' && first !== 'settled')
    violations.push(`the run succeeded over a slice that is ${first}`)
  if (!NAMED.has(told)) violations.push(`the run ended by ${told}, which no operator knows: ${end.cause}`)
  violations.push(...(await judge(cell)))
  if (first === 'settled') return end.status === 'SUCCEEDED' ? 'exact' : `${told}; exact by another run`
  const resumed = await on.ended(await startAgain(cell), RUN_MS_MAX)
  await quiet(cell)
  const last = await standingOf(world, slice)
  violations.push(...(await judge(cell)))
  if (resumed.status === 'SUCCEEDED' && last === 'settled') return `${told}; ${STANDINGS[first]}; exact when run again`
  violations.push(`run again it ended as ${resumed.status} ${resumed.error ?? ''} ${resumed.cause}: ${STANDINGS[last]}`)
  return `${told}; ${STANDINGS[first]}; ${STANDINGS[last]} when run again`
}

/** How a run may end: by a failure of the table, stopped, out of time, or with a sandbox that always died. */
const NAMED = new Set(['succeeded', 'ABORTED', 'TIMED_OUT', 'Lambda.Unknown', ...FAILURE_NAMES])

const STANDINGS: Record<Standing, string> = {
  settled: 'settled',
  halted: 'halted',
  open: 'left open',
  untouched: 'nothing begun',
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Runs one cell in a world that is the cell's own until it ends. */
export const runCell = async (world: World, fault: Fault, moment: Moment): Promise<Result> => {
  const startedAt = performance.now()
  const found: string[] = []
  let outcome = 'broken off'
  try {
    const cell = await setUp(world, fault, moment)
    const stopReading = world.reader.start(() => [cell.slice, world.bystander.slice])
    try {
      outcome = await settle(cell, await play(fault, cell))
    } finally {
      found.push(...cell.violations, ...(await stopReading()))
      world.on.disarm()
    }
  } catch (error) {
    found.push(`broken off: ${textOf(error)}`)
    await world.restore()
  }
  const violations = [...new Set(found)]
  const ms = performance.now() - startedAt
  return {
    fault: fault.id,
    moment: moment.id,
    outcome: violations.length > 0 ? `VIOLATED (${outcome})` : outcome,
    violations,
    ms,
  }
}
