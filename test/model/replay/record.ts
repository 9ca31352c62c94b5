import type { LockFact, LockWatch } from '../../support/lock-watch.ts'
import type { TestSlice, TestStack } from '../../support/test-stack.ts'
import type { Call } from '../../support/timeline.ts'
import { type Commit, commitsSince, endOfLog, type LogPosition } from './binlog.ts'
import { NOTHING, type TraceEvent } from './events.ts'
import { type Hold, type Look, Looks } from './looks.ts'
import { type Head, Observer } from './observe.ts'

/** A stack with everything that watches it. */
export type Watched = {
  readonly on: TestStack
  readonly watch: LockWatch
  readonly callOfThread: (thread: number, at: number) => Call | undefined
  readonly callsOfPort: (port: number, at: number) => readonly Call[]
}

const LOCK_KINDS = { set: 'SET', del: 'DELETED_KEY', expire: 'EXTENDED' } as const
const LOCK_WORDS = { set: 'is acquired', del: 'is released', expire: 'is extended' } as const

/**
 * What happened to a lock, in the model's words. `part`: it was taken from another token whose time had not ended. A test
 * deletes a lock in the place of its time.
 */
const lockEvent = ({ kind, token, holder }: LockFact, isTask: boolean, observer: Observer): TraceEvent => {
  const part = kind === 'set' && holder !== undefined && holder !== token ? 1 : 0
  const isEnd = kind === 'del' && !isTask
  const what = `the lock of ${token} ${isEnd ? 'ends' : LOCK_WORDS[kind]}`
  return { kind: isEnd ? 'EXPIRED' : LOCK_KINDS[kind], token: observer.tokens.of(token), part, what }
}

type Timed = { readonly at: number; readonly event: (observer: Observer) => TraceEvent }

const holdEvents = ({ from, to, shown }: Hold): Timed[] => {
  const what = `the set of job ${shown}`
  return [
    { at: from, event: (observer) => ({ kind: 'HELD', ...observer.left(shown), what: `a reader holds ${what}` }) },
    { at: to, event: (observer) => ({ kind: 'LET_GO', ...observer.left(shown), what: `a reader lets go of ${what}` }) },
  ]
}

const keyOf = (head: Head | undefined): string => (head === undefined ? '' : `${head.job}/${head.fence}/${head.state}`)

const lookEvent = (observer: Observer, { shown, isWhole }: Look): TraceEvent => ({
  kind: 'LOOKED',
  ...observer.left(shown),
  part: isWhole ? 1 : 0,
  what: `a reader sees ${isWhole ? 'all' : 'a part'} of ${shown === null ? 'nothing' : `the set of job ${shown}`}`,
})

/** The looks at each moment of the log: that of the newest job's state under its fence. */
const looksByHead = (looks: readonly Look[]): Map<string, Look[]> => {
  const byHead = new Map<string, Look[]>()
  for (const look of looks) byHead.set(keyOf(look.head), [...(byHead.get(keyOf(look.head)) ?? []), look])
  return byHead
}

/**
 * The events of a trace in their order: commits as MySQL has them, what happened between them by the clock, and each look of a
 * reader at the moment whose newest job it saw.
 */
const inOrder = (observer: Observer, commits: readonly Commit[], timed: readonly Timed[], looks: readonly Look[]) => {
  const events: TraceEvent[] = []
  const left = looksByHead(looks)
  let next = 0
  const upTo = (at: number) => {
    for (let one = timed[next]; one !== undefined && one.at <= at; one = timed[++next]) events.push(one.event(observer))
  }
  const lookNow = () => {
    const key = keyOf(observer.head)
    events.push(...(left.get(key) ?? []).map((look) => lookEvent(observer, look)))
    left.delete(key)
  }
  for (const commit of commits) {
    const own = observer.commit(commit)
    if (own.length === 0) continue
    upTo(commit.at)
    events.push(...own)
    lookNow()
  }
  upTo(Number.POSITIVE_INFINITY)
  left.delete('')
  return { events, unplaced: left.size }
}

/** Records what happens to a slice, from before its first job on. */
export class Recording {
  readonly #watched: Watched
  readonly #slice: TestSlice
  readonly #from: LogPosition
  readonly #looks: Looks

  private constructor(watched: Watched, slice: TestSlice, from: LogPosition) {
    this.#watched = watched
    this.#slice = slice
    this.#from = from
    this.#looks = Looks.start(watched.on, slice)
  }

  static async start(watched: Watched, slice: TestSlice): Promise<Recording> {
    return new Recording(watched, slice, await endOfLog(watched.on))
  }

  /**
   * Ends the recording and answers the trace.
   *
   * @param withLooks with what readers saw: not where commits were taken back that they had seen
   */
  async stop({ withLooks }: { readonly withLooks: boolean }): Promise<TraceEvent[]> {
    await this.#looks.stop()
    const { on, watch, callOfThread, callsOfPort } = this.#watched
    const [row] = await on.rows<{ id: number }>('select id from distributor where code = ?', [this.#slice.distributor])
    const slice = { distributorId: row?.id ?? 0, month: this.#slice.month }
    const observer = new Observer(slice, ({ thread, at }) => callOfThread(thread, at))
    const locks = watch.factsOf(this.#slice)
    const timed: Timed[] = [
      ...locks.map((fact) => {
        const isTask = callsOfPort(fact.port, fact.at).length > 0
        return { at: fact.at, event: (by: Observer) => lockEvent(fact, isTask, by) }
      }),
      ...(withLooks ? this.#looks.holds : []).flatMap(holdEvents),
    ].sort((one, other) => one.at - other.at)
    const looks = withLooks ? this.#looks.looks : []
    const [floor] = await on.rows<{ fence: number }>('select floor as fence from fence_floor')
    const { events: seen, unplaced } = inOrder(observer, await commitsSince(on, this.#from), timed, looks)
    const events = seen.map((event) => ({ ...event, isFloor: event.newestFence === floor?.fence }))
    const what = `readers saw ${unplaced} moments that the log does not have`
    return unplaced > 0 ? [...events, { kind: 'NO_STEP', shownJob: NOTHING, what }] : events
  }
}
