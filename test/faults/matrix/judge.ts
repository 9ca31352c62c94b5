import { jobChangesOf, writesOf } from '../../support/audit.ts'
import {
  expectHalted,
  expectLedgerConsistent,
  expectSettled,
  fingerprintOf,
  jobsOf,
  lockOf,
  settledRowsOf,
} from '../../support/invariants.ts'
import { type ShareFile, shareFile } from '../../support/share-file.ts'
import type { TestSlice } from '../../support/test-stack.ts'
import { judgeJobs, judgeLocks, judgeOwners, judgeWrites } from '../../support/timeline.ts'
import type { Before } from './beginning.ts'
import type { Trial } from './fault.ts'
import type { FaultLab } from './fault-lab.ts'

/** How a slice is when nobody works on it. */
export type SliceEnd = 'settled' | 'withdrawn' | 'halted' | 'open' | 'untouched'

/** @param before the newest job from before all runs that are judged; 0: there was none */
export const sliceEndOf = async (lab: FaultLab, slice: TestSlice, before = 0): Promise<SliceEnd> => {
  const [newest] = await jobsOf(lab.on, slice)
  if (newest?.withdrawn_at != null) return 'withdrawn'
  if (newest === undefined || newest.id === before) return 'untouched'
  if (newest.state === 'REGISTERED') return 'settled'
  return newest.halted_at === null ? 'open' : 'halted'
}

/** Rows of the months beside each trial's slice. */
export const NEIGHBOUR = shareFile(30, 6)
export const neighboursOf = ({ distributor }: TestSlice): TestSlice[] =>
  ['2026-09', '2026-11'].map((month) => ({ distributor, month }))

const LOCK_TTL_MS = 300_000

/** What an expectation says where it fails. */
const told = async (expectation: () => Promise<unknown>): Promise<string[]> => {
  try {
    await expectation()
    return []
  } catch (error) {
    return [error instanceof Error ? error.message.replace(/\s+/g, ' ') : String(error)]
  }
}

const differs = async (lab: FaultLab, slice: TestSlice, fingerprint: string, whose: string): Promise<string[]> => {
  const now = await fingerprintOf(lab.on, slice)
  return now === fingerprint ? [] : [`${whose} has ${now} and should have ${fingerprint}`]
}

/**
 * A lock that was left behind is a run's own and ends with its TTL. Once that is seen it is deleted, as time would do.
 *
 * @param runs names of the executions that worked on the slice
 */
export const letLockExpire = async (lab: FaultLab, slice: TestSlice, runs: readonly string[]): Promise<string[]> => {
  const { on } = lab
  const lock = await lockOf(on, slice)
  if (lock === null) return []
  await on.valkey.del(on.lockKey(slice))
  const isOwn = runs.includes(lock.token.split('/')[0] ?? '')
  const hasEnd = lock.remainingMs > 0 && lock.remainingMs <= LOCK_TTL_MS
  return [
    ...(isOwn ? [] : [`the lock is held by ${lock.token}, which is no run of this slice`]),
    ...(hasEnd ? [] : [`the lock lasts ${lock.remainingMs} ms`]),
  ]
}

/** Everything that must hold for a trial's slice and its neighbours while nobody works, whatever happened before. */
export const judge = async (trial: Trial): Promise<string[]> => {
  const { lab, slice } = trial
  return [
    ...(await letLockExpire(lab, slice, trial.runs)),
    ...(await judgeSlice(lab, slice, trial.files, trial.before)),
    ...(await judgeHistory(lab, slice)),
    ...(await judgeEvents(lab, slice)),
    ...(await judgeNeighbours(lab, slice)),
  ]
}

/** @param files of which the slice holds one, if it is settled */
export const judgeSlice = async (
  lab: FaultLab,
  slice: TestSlice,
  files: readonly ShareFile[],
  before?: Before,
): Promise<string[]> => {
  const { on } = lab
  const sliceEnd = await sliceEndOf(lab, slice, before?.job)
  if (sliceEnd === 'untouched') return before === undefined ? [] : await judgeUntouched(lab, slice, before)
  if (sliceEnd === 'withdrawn') return await judgeWithdrawn(lab, slice, files, before)
  if (sliceEnd === 'settled') {
    const now = await fingerprintOf(on, slice)
    const file = files.find(({ fingerprint }) => fingerprint === now)
    if (file === undefined) return [`the slice is REGISTERED with ${now}, the file has ${files[0]?.fingerprint}`]
    return await told(() => expectSettled(on, slice, file))
  }
  const [job] = await jobsOf(on, slice)
  const state = job?.state ?? ''
  const whole = sliceEnd === 'halted' ? () => expectHalted(on, slice, state) : () => expectLedgerConsistent(on, slice)
  return [...(await told(whole)), ...(await judgeShown(lab, slice, files, before))]
}

/** Its rows lie where they were, and nobody sees them. */
const judgeWithdrawn = async (
  lab: FaultLab,
  slice: TestSlice,
  files: readonly ShareFile[],
  before?: Before,
): Promise<string[]> => {
  const seen = await settledRowsOf(lab.on, slice)
  const now = await fingerprintOf(lab.on, slice)
  const isKept = [...files, ...(before === undefined ? [] : [before.old])].some(
    ({ fingerprint }) => fingerprint === now,
  )
  return [
    ...(seen === 0 ? [] : [`readers see ${seen} rows of a set that was withdrawn`]),
    ...(isKept ? [] : [`a withdrawn set has ${now}`]),
  ]
}

const judgeUntouched = async (lab: FaultLab, slice: TestSlice, { old, isShown }: Before): Promise<string[]> => {
  const seen = await settledRowsOf(lab.on, slice)
  return [
    ...(await differs(lab, slice, old.fingerprint, 'an untouched slice')),
    ...(seen === (isShown ? old.rows : 0) ? [] : [`readers see ${seen} rows of an untouched slice`]),
  ]
}

/** Beside a job that has not ended readers see a whole set in the mode standby, if ever they saw one, and in-place none. */
const judgeShown = async (
  lab: FaultLab,
  slice: TestSlice,
  files: readonly ShareFile[],
  before?: Before,
): Promise<string[]> => {
  const { on } = lab
  const seen = await settledRowsOf(on, slice)
  const wasWithdrawn = (await jobsOf(on, slice)).some(({ withdrawn_at: at }) => at !== null)
  if (before?.mode !== 'standby' || !before.isShown || wasWithdrawn)
    return seen === 0 ? [] : [`readers see ${seen} rows of a slice that is being replaced`]
  const now = await fingerprintOf(on, slice)
  const shown = [before.old, ...files].find(({ fingerprint }) => fingerprint === now)
  if (shown !== undefined && seen === shown.rows) return []
  return [`readers see ${seen} rows beside a job that has not ended; the set before has ${before.old.rows}`]
}

/** What MySQL and Valkey recorded of the slice, from its beginning. */
export const judgeHistory = async (lab: FaultLab, slice: TestSlice): Promise<string[]> => {
  const changes = await jobChangesOf(lab.on, slice)
  return [
    ...judgeWrites(await writesOf(lab.on, slice), lab.callOfThread),
    ...judgeJobs(changes),
    ...judgeOwners(changes, lab.callOfThread),
    ...judgeLocks(lab.watch.factsOf(slice), changes, lab.callsOfPort),
  ]
}

/** One event for each transition that has one; what the sweeper had to publish included, all of them delivered. */
export const judgeEvents = async (lab: FaultLab, slice: TestSlice): Promise<string[]> => {
  const { on } = lab
  const found: string[] = []
  const changes = await jobChangesOf(on, slice)
  const jobs = new Set(changes.map(({ job }) => job))
  for (const id of jobs) {
    const own = changes.filter(({ job }) => job === id)
    const due = {
      JobHalted: own.filter((one, index) => one.halted === 1 && own[index - 1]?.halted !== 1).length,
      JobRegistered: own.filter((one) => one.state === 'REGISTERED' && one.old_state !== 'REGISTERED').length,
    }
    const written = await on.rows<{ type: string; published: number }>(
      'select type, published_at is not null as published from outbox where job_id = ?',
      [id],
    )
    for (const [type, count] of Object.entries(due)) {
      const there = written.filter((event) => event.type === type).length
      if (there !== count) found.push(`job ${id} has ${there} events ${type} for ${count} transitions`)
    }
    if (written.some(({ published }) => published === 0)) found.push(...(await publishTheRest(lab)))
  }
  return [...found, ...(await told(() => on.consumer.expectInStep(on)))]
}

const publishTheRest = async ({ on }: FaultLab): Promise<string[]> => {
  const { lambda } = on.stack
  const sweep = lambda.functionNames.find((name) => name.endsWith('Sweep')) ?? ''
  const outcome = await lambda.invoke(sweep, JSON.stringify({ registeredByDay: 28, monthsBack: 1 }))
  if ('error' in outcome) return [`the sweeper failed: ${outcome.error.errorType} ${outcome.error.errorMessage}`]
  const left = await on.rows('select id from outbox where published_at is null')
  return left.length === 0 ? [] : [`${left.length} events are not published after a sweep`]
}

const judgeNeighbours = async (lab: FaultLab, slice: TestSlice): Promise<string[]> => {
  const { bystander, on } = lab
  const [job] = await jobsOf(on, bystander.slice)
  const months = neighboursOf(slice).map((month) => differs(lab, month, NEIGHBOUR.fingerprint, month.month))
  return [
    ...(await differs(lab, bystander.slice, bystander.file.fingerprint, 'a bystander')),
    ...(job?.state === 'REGISTERED' && job.fence === 1 ? [] : ["a bystander's job was changed"]),
    ...(await Promise.all(months)).flat(),
  ]
}
