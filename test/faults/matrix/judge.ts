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
import type { Cell } from './fault.ts'
import type { World } from './world.ts'

/** How a slice is when nobody works on it. */
export type Standing = 'settled' | 'halted' | 'open' | 'untouched'

export const standingOf = async (world: World, slice: TestSlice): Promise<Standing> => {
  const [newest] = await jobsOf(world.on, slice)
  if (newest === undefined) return 'untouched'
  if (newest.state === 'REGISTERED') return 'settled'
  return newest.halted_at === null ? 'open' : 'halted'
}

/** Rows of the months beside each cell's slice. */
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

const differs = async (world: World, slice: TestSlice, fingerprint: string, whose: string): Promise<string[]> => {
  const now = await fingerprintOf(world.on, slice)
  return now === fingerprint ? [] : [`${whose} has ${now} and should have ${fingerprint}`]
}

/**
 * A lock that was left behind is a run's own and ends with its TTL. Once that is seen it is deleted, as time would do.
 *
 * @param runs names of the executions that worked on the slice
 */
export const letLockExpire = async (world: World, slice: TestSlice, runs: readonly string[]): Promise<string[]> => {
  const { on } = world
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

/** Everything that must hold for a cell's slice and its neighbours while nobody works, whatever happened before. */
export const judge = async (cell: Cell): Promise<string[]> => {
  const { world, slice } = cell
  return [
    ...(await letLockExpire(world, slice, cell.runs)),
    ...(await judgeSlice(world, slice, cell.files, cell.oldFingerprint)),
    ...(await judgeHistory(world, slice)),
    ...(await judgeEvents(world, slice)),
    ...(await judgeNeighbours(world, slice)),
  ]
}

/** @param files of which the slice holds one, if it is settled */
export const judgeSlice = async (
  world: World,
  slice: TestSlice,
  files: readonly ShareFile[],
  oldFingerprint: string,
): Promise<string[]> => {
  const { on } = world
  const standing = await standingOf(world, slice)
  if (standing === 'untouched') return await differs(world, slice, oldFingerprint, 'an untouched slice')
  if (standing === 'settled') {
    const now = await fingerprintOf(on, slice)
    const file = files.find(({ fingerprint }) => fingerprint === now)
    if (file === undefined) return [`the slice is REGISTERED with ${now}, the file has ${files[0]?.fingerprint}`]
    return await told(() => expectSettled(on, slice, file))
  }
  const [job] = await jobsOf(on, slice)
  if (standing === 'halted') return await told(() => expectHalted(on, slice, job?.state ?? ''))
  const seen = await settledRowsOf(on, slice)
  return [
    ...(await told(() => expectLedgerConsistent(on, slice))),
    ...(seen === 0 ? [] : [`readers see ${seen} rows of a slice that is being replaced`]),
  ]
}

/** What MySQL and Valkey recorded of the slice, from its beginning. */
export const judgeHistory = async (world: World, slice: TestSlice): Promise<string[]> => {
  const changes = await jobChangesOf(world.on, slice)
  return [
    ...judgeWrites(await writesOf(world.on, slice), world.callOfThread),
    ...judgeJobs(changes),
    ...judgeOwners(changes, world.callOfThread),
    ...judgeLocks(world.watch.factsOf(slice), changes, world.callsOfPort),
  ]
}

/** One event for each transition that has one; what the sweeper had to publish included, all of them delivered. */
export const judgeEvents = async (world: World, slice: TestSlice): Promise<string[]> => {
  const { on } = world
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
    if (written.some(({ published }) => published === 0)) found.push(...(await publishTheRest(world)))
  }
  return [...found, ...(await told(() => on.consumer.expectInStep(on)))]
}

const publishTheRest = async ({ on }: World): Promise<string[]> => {
  const { lambda } = on.stack
  const sweep = lambda.functionNames.find((name) => name.endsWith('Sweep')) ?? ''
  const outcome = await lambda.invoke(sweep, JSON.stringify({ registeredByDay: 28, monthsBack: 1 }))
  if ('error' in outcome) return [`the sweeper failed: ${outcome.error.errorType} ${outcome.error.errorMessage}`]
  const left = await on.rows('select id from outbox where published_at is null')
  return left.length === 0 ? [] : [`${left.length} events are not published after a sweep`]
}

const judgeNeighbours = async (world: World, slice: TestSlice): Promise<string[]> => {
  const { bystander, on } = world
  const [job] = await jobsOf(on, bystander.slice)
  const months = neighboursOf(slice).map((month) => differs(world, month, NEIGHBOUR.fingerprint, month.month))
  return [
    ...(await differs(world, bystander.slice, bystander.file.fingerprint, 'a bystander')),
    ...(job?.state === 'REGISTERED' && job.fence === 1 ? [] : ["a bystander's job was changed"]),
    ...(await Promise.all(months)).flat(),
  ]
}
