import { setTimeout as sleep } from 'node:timers/promises'
import { jobsOf } from '../../support/invariants.ts'
import { atMost } from '../matrix/fault.ts'
import { FaultLab } from '../matrix/fault-lab.ts'
import { judgeEvents, judgeHistory, judgeSlice, letLockExpire, sliceEndOf } from '../matrix/judge.ts'
import { operate } from './operators.ts'
import { Random } from './random.ts'
import { sabotage } from './saboteur.ts'
import { openSetting, type Player, type Setting } from './setting.ts'

export type SoakResult = {
  readonly seed: number
  readonly minutes: number
  /** Executions by how they ended. */
  readonly runs: Readonly<Record<string, number>>
  readonly requests: Readonly<Record<string, number>>
  readonly faults: Readonly<Record<string, number>>
  readonly looks: number
  readonly violations: readonly string[]
}

/** After the last fault everything comes to its end by itself within this time. */
const CALM_MS_MAX = 180_000

/** A resume is one run; on a machine that is busy with other things each cold start takes seconds. */
const RESUME_MS_MAX = 300_000

export const replaySoak = ({ minutes, seed }: Pick<SoakResult, 'minutes' | 'seed'>): string =>
  `npm run test:faults -- --soak --minutes ${minutes} --seed ${seed}`

/** Every server right again, nobody frozen; then waits until nobody works any more. */
const calm = async (setting: Setting): Promise<void> => {
  const { lab, pending, violations } = setting
  const { engine, lambda } = lab.on.stack
  lab.on.disarm()
  lab.on.relay.cutAll()
  await Promise.all(pending)
  const deadline = Date.now() + CALM_MS_MAX
  const isAtWork = () =>
    engine.executions().some(({ status }) => status === 'RUNNING') ||
    lambda.sandboxes.some(({ state }) => state === 'busy' || state === 'starting')
  while (isAtWork() && Date.now() < deadline) await sleep(50)
  await atMost(CALM_MS_MAX, lambda.settled())
  if (isAtWork()) violations.push('somebody is still at work long after the last fault')
}

/** The file that the newest job of a slice registers. */
const fileOf = async ({ lab, files }: Setting, { slice, scheduled }: Player) => {
  const jobs = await jobsOf(lab.on, slice)
  // The digest of a file that was staged by the code is known from the run that staged it.
  for (const job of jobs)
    if (job.execution.includes('-scheduled-')) files.set(job.source_digest, files.get(job.source_digest) ?? scheduled)
  return { digest: jobs[0]?.source_digest ?? '', file: files.get(jobs[0]?.source_digest ?? '') }
}

/** Resumes what is halted, and compares every slice with its newest job's file. */
const judgePlayer = async (setting: Setting, player: Player): Promise<string[]> => {
  const { lab } = setting
  const { slice } = player
  const runs = lab.on.stack.engine.executions().map(({ name }) => name)
  const found = await letLockExpire(lab, slice, runs)
  const { digest, file } = await fileOf(setting, player)
  const sliceEnd = await sliceEndOf(lab, slice)
  if (sliceEnd === 'halted' || sliceEnd === 'open' || sliceEnd === 'withdrawn') {
    const end = await lab.on.ended(await lab.on.start({ ...slice, source: { staged: digest } }), RESUME_MS_MAX)
    if (end.status !== 'SUCCEEDED') found.push(`it could not be resumed: ${end.error} ${end.cause}`)
  }
  if (sliceEnd !== 'untouched' && file === undefined) found.push(`nobody knows the file ${digest}`)
  else if (file !== undefined) found.push(...(await judgeSlice(lab, slice, [file])))
  found.push(...(await judgeHistory(lab, slice)), ...(await judgeEvents(lab, slice)))
  return found.map((violation) => `${slice.distributor}: ${violation}`)
}

const byKind = (counts: Map<string, number>, prefix: string): Record<string, number> =>
  Object.fromEntries(
    [...counts].filter(([what]) => what.startsWith(prefix)).map(([what, times]) => [what.slice(prefix.length), times]),
  )

const endsOf = ({ lab }: Setting): Record<string, number> => {
  const ends: Record<string, number> = {}
  for (const { status, error } of lab.on.stack.engine.executions(lab.on.stack.machineArn)) {
    const end = status === 'FAILED' ? (error ?? status) : status
    ends[end] = (ends[end] ?? 0) + 1
  }
  return ends
}

/**
 * Operators, a schedule and faults at random for some minutes, on several slices at once. The same seed gives the same
 * decisions in the same order; what meets what is the machine's affair, and no seed can hold that still.
 */
export const runSoak = async (minutes: number, seed: number): Promise<SoakResult> => {
  const lab = await FaultLab.start()
  try {
    const until = Date.now() + minutes * 60_000
    const setting = await openSetting(lab, new Random(seed), () => Date.now() > until)
    const stopReading = lab.reader.start(() => setting.players)
    await Promise.all([operate(setting, new Random(seed + 1)), sabotage(setting, new Random(seed + 2))])
    await calm(setting)
    const violations = [...setting.violations]
    const runs = endsOf(setting)
    for (const player of setting.players) violations.push(...(await judgePlayer(setting, player)))
    violations.push(...(await stopReading()))
    const { counts } = setting
    const requests = byKind(counts, 'request: ')
    const faults = byKind(counts, 'fault: ')
    return { seed, minutes, runs, requests, faults, looks: lab.reader.looks, violations: [...new Set(violations)] }
  } finally {
    await lab.stop()
  }
}
