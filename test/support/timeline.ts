import type { JobFact, WriteFact } from './audit.ts'
import type { LockFact } from './lock-watch.ts'

/*
 * What must hold for everything that ever happened to a slice, judged from MySQL's and Valkey's own records and from
 * what each sandbox was told. None of it knows how a handler works.
 */

/** One call of a function: which process served it, from when on, and with which input. */
export type Call = { readonly pid: number; readonly task: string; readonly at: number; readonly event: unknown }

/** Who wrote: the call that a session or a connection was serving at a moment, if anybody knows. */
export type CallAt = (number: number, at: number) => Call | undefined

/**
 * The calls that a lock command may come from, newest first; none where it did not come from a function. A Valkey that
 * was silent executes what it was sent meanwhile, when the process has given up and serves the next call.
 */
export type CallsAt = (port: number, at: number) => readonly Call[]

const LOCK_TTL_MS = 300_000

const STEPS: Record<string, string> = { DELETING: 'DELETED', DELETED: 'REGISTERING', REGISTERING: 'REGISTERED' }

const STATE_OF_WRITE = { delete: 'DELETING', insert: 'REGISTERING' } as const

type Told = {
  readonly job?: { readonly id: number; readonly fence: number }
  readonly lock?: { readonly token: string }
  readonly execution?: string
  /** A status event's. */
  readonly detail?: { readonly executionArn: string }
}

const toldOf = (call: Call | undefined): Told => (call?.event ?? {}) as Told

/** Each write in its state, under the fence that its writer was given, by a writer that is known. */
export const judgeWrites = (writes: readonly WriteFact[], callAt: CallAt): string[] =>
  writes.flatMap(({ kind, state, job, fence, token, thread, at }) => {
    const found: string[] = []
    if (state !== STATE_OF_WRITE[kind]) found.push(`rows were changed by ${kind} while the job was ${state}`)
    const call = callAt(thread, at)
    const told = toldOf(call).job
    if (told === undefined) found.push(`rows were changed by ${kind} in a session of nobody known (${thread})`)
    else if (told.id !== job || told.fence !== fence)
      found.push(
        `${call?.task} of job ${told.id} wrote under fence ${told.fence} while job ${job} had fence ${fence}: ${kind}`,
      )
    // After a restore two runs may hold one number and one fence; no two have one token.
    else if (toldOf(call).lock?.token !== token)
      found.push(`${call?.task} of another acquisition wrote to job ${job}: ${kind}`)
    return found
  })

/**
 * A state is set under the row's own token, and a job is halted for its own execution, or by a person or the sweeper.
 */
export const judgeOwners = (changes: readonly JobFact[], callAt: CallAt): string[] =>
  changes.flatMap(({ job, thread, at, execution, old_state, state, old_fence, fence, old_token, halted, closed }) => {
    if (old_state === null || old_fence === null) return []
    const call = callAt(thread, at)
    const { lock, execution: by, detail } = toldOf(call)
    const ended = by ?? detail?.executionArn
    if (state !== old_state && lock?.token !== old_token)
      return [`${call?.task ?? 'somebody'} of another acquisition made job ${job} ${state}`]
    if (halted === 1 && closed === 0 && fence > old_fence && ended !== undefined && ended !== execution)
      return [`${call?.task} of ${ended} halted job ${job}, which is that of ${execution}`]
    return []
  })

/** A set that lies in its slot already is shown in one step. */
const mayFollow = (old_state: string, { state, reuses }: JobFact): boolean =>
  STEPS[old_state] === state || (old_state === 'DELETING' && state === 'REGISTERED' && reuses === 1)

const judgeStep = (change: JobFact): string[] => {
  const { job, old_state, state, slice_rows, source_rows } = change
  if (old_state === state) return []
  const found: string[] = []
  if (old_state === null && state !== 'DELETING') found.push(`job ${job} began in ${state}`)
  if (old_state !== null && !mayFollow(old_state, change)) found.push(`job ${job} went from ${old_state} to ${state}`)
  if (state === 'DELETED' && slice_rows !== 0) found.push(`job ${job} was marked DELETED over ${slice_rows} rows`)
  if (old_state !== null && state === 'REGISTERED' && slice_rows !== source_rows)
    found.push(`job ${job} was marked REGISTERED over ${slice_rows} rows of ${source_rows}`)
  return found
}

/**
 * States one step at a time, DELETED only over an empty slice, REGISTERED only over a full one, fences only upwards.
 */
export const judgeJobs = (changes: readonly JobFact[]): string[] => {
  const found: string[] = []
  const open = new Set<number>()
  let highest = 0
  for (const change of changes) {
    const { job, state, old_fence, fence, closed } = change
    found.push(...judgeStep(change))
    if (old_fence !== null && fence < old_fence) found.push(`job ${job} fell from fence ${old_fence} to ${fence}`)
    if (old_fence === null && fence <= highest) found.push(`job ${job} began under fence ${fence} after ${highest}`)
    highest = Math.max(highest, fence)
    if (state === 'REGISTERED' || closed === 1) open.delete(job)
    else open.add(job)
    if (open.size > 1) found.push(`jobs ${[...open].join(' and ')} were open at once`)
  }
  return found
}

/** The job that has this token as its own at a moment, and how far it was by then. */
const jobUnder = (changes: readonly JobFact[], token: string, at: number): JobFact | undefined => {
  const owned = changes.filter((one) => one.at <= at && (one.token === token || one.old_token === token))
  return owned.at(-1)
}

const mayRelease = (change: JobFact | undefined, token: string): boolean =>
  change === undefined || change.token !== token || change.state === 'REGISTERED'

const judgeSet = ({ task }: Call, holder: string | undefined): string[] => [
  // A withdrawal takes the lock for itself.
  ...(task === 'AcquireLock' || task.endsWith('operate') ? [] : [`${task} created the lock`]),
  ...(holder === undefined ? [] : [`${task} overwrote a lock that was held`]),
]

/**
 * Locks are created by AcquireLock only, end by themselves, are extended and deleted only by who was given their token,
 * and are deleted only once the job opened under them is REGISTERED, or its fence is raised.
 */
export const judgeLocks = (facts: readonly LockFact[], changes: readonly JobFact[], callsAt: CallsAt): string[] =>
  facts.flatMap(({ kind, token, ttlMs, port, at, holder }) => {
    const calls = callsAt(port, at)
    const [call] = calls
    if (call === undefined) return []
    const found: string[] = []
    const told = calls.map((one) => toldOf(one).lock?.token)
    if (kind === 'set') found.push(...judgeSet(call, holder))
    if (kind !== 'del' && !(ttlMs <= LOCK_TTL_MS)) found.push(`${call.task} gave the lock ${ttlMs} ms`)
    // HaltJob, called by a status event, is told no token.
    if (!told.includes(token) && !told.includes(undefined))
      found.push(`${call.task} changed the lock of another token: ${kind}`)
    if (kind === 'del' && !mayRelease(jobUnder(changes, token, at), token))
      found.push(`${call.task} released the lock while its job was open under an unraised fence`)
    return found
  })
