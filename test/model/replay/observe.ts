import type { OpenJobInput } from '../../../functions/contract/messages.ts'
import type { Call } from '../../support/timeline.ts'
import type { Commit, Row } from './binlog.ts'
import { type By, type Left, NOTHING, type TraceEvent } from './events.ts'
import { Executions, lifeOf, Numbers } from './names.ts'
import { changesOf, type SliceChanges, type SliceIds } from './slice-changes.ts'

/** The newest job of a slice as a reader saw it: which moment of the log it was. */
export type Head = { readonly job: number; readonly fence: number; readonly state: string }

const bits = (count: number): number => 2 ** count - 1

const STEPS: Readonly<Record<string, TraceEvent['kind']>> = {
  'DELETING DELETED': 'IS_DELETED',
  'DELETED REGISTERING': 'BEGINS',
  'REGISTERING REGISTERED': 'IS_REGISTERED',
  'DELETING REGISTERED': 'IS_REUSED',
}

/** Turns the commits of a slice into events of the model, one by one, in their order. */
export class Observer {
  readonly tokens = new Numbers(1)
  readonly #slice: SliceIds
  readonly #callOf: (commit: Commit) => Call | undefined
  readonly #executions = new Executions()
  readonly #sources = new Map<string, number>()
  readonly #ids = new Set<string>()
  readonly #jobs = new Map<string, Row>()
  readonly #numbers = new Numbers(1)
  /** By job: the number of its delete plan's first range, and how many chunks its file has. */
  readonly #firstOfPlan = new Map<string, number>()
  readonly #chunks = new Map<string, number>()
  #newest: Row | undefined
  #shown: Row | undefined

  constructor(slice: SliceIds, callOf: (commit: Commit) => Call | undefined) {
    this.#slice = slice
    this.#callOf = callOf
  }

  /** The newest job now, by its own number. */
  get head(): Head | undefined {
    const job = this.#newest
    return job && { job: Number(job.id), fence: Number(job.fence), state: job.state ?? '' }
  }

  /** What a reader who saw this set saw, in the model's numbers. */
  left(shownJob: number | null = this.#shownId): Left {
    const shown = shownJob === null ? undefined : this.#jobs.get(String(shownJob))
    return {
      newestJob: this.#newest ? this.#numbers.of(this.#newest.id ?? '') : 0,
      newestFence: Number(this.#newest?.fence ?? 0),
      slot: Number(shown?.slot ?? 0),
      shownJob: shownJob === null ? NOTHING : this.#numbers.of(String(shownJob)),
    }
  }

  get #shownId(): number | null {
    return this.#shown?.job_id == null ? null : Number(this.#shown.job_id)
  }

  /** The events of a commit: none where it says nothing of the slice. */
  commit(commit: Commit): TraceEvent[] {
    const found = changesOf(commit, this.#slice, this.#ids)
    const before = this.#shown
    this.#take(found)
    const call = this.#callOf(commit)
    const events = [...this.#ends(found), ...this.#event(found, call)]
    const isShownAlone = events.length === 0 && found.shown !== undefined && before?.job_id !== found.shown.job_id
    return isShownAlone ? [odd(`active_set is written alone, by ${call?.task ?? 'nobody known'}`)] : events
  }

  #take({ opened, jobs, shown }: SliceChanges): void {
    for (const row of [...jobs.map(({ after }) => after), ...(opened ? [opened] : [])]) {
      this.#ids.add(row.id ?? '')
      this.#jobs.set(row.id ?? '', row)
    }
    if (opened !== undefined) this.#numbers.of(opened.id ?? '')
    this.#newest = [...this.#jobs.values()].sort((one, other) => Number(one.fence) - Number(other.fence)).at(-1)
    if (shown !== undefined) this.#shown = shown
  }

  #ends({ ended }: SliceChanges): TraceEvent[] {
    return ended.flatMap(({ name, ended_started_ms: started, ended_redrives: redrives, unlocked_at: unlocked }) =>
      this.#executions
        .endedBy(name ?? '', unlocked === null ? Number(started) : undefined, Number(redrives))
        .map((execution) => ({ kind: 'OVER', execution, what: `the execution ${name} is over` }) as const),
    )
  }

  #event(found: SliceChanges, call: Call | undefined): TraceEvent[] {
    if (found.opened !== undefined) return [this.#opens(found.opened, call, true)]
    if (found.marked !== undefined) return [this.#chunk(found, found.marked, call)]
    const [job] = found.jobs
    if (job !== undefined) return this.#jobChange(job.before, job.after, found, call)
    if (found.inserted + found.deleted === 0) return []
    if (this.#newest === undefined && found.deleted === 0)
      return [{ kind: 'SEEDED', slot: [...found.slots][0] ?? 0, what: `${found.inserted} rows of an older system` }]
    return [odd(`rows of the slice are changed without a mark, by ${call?.task ?? 'nobody known'}`)]
  }

  #jobChange(before: Row, after: Row, found: SliceChanges, call: Call | undefined): TraceEvent[] {
    const isRaised = Number(after.fence) > Number(before.fence)
    if (isRaised && after.lock_token !== null) return [this.#opens(after, call, false)]
    if (isRaised && after.halted_at !== null) return [this.#halts(after, call)]
    if (isRaised && after.withdrawn_at != null)
      return [{ kind: 'WITHDRAWN_BY', job: this.#job(after), ...this.left(), what: `job ${after.id} is withdrawn` }]
    if (before.state !== after.state) return [this.#moves(before, after, found, call)]
    if (before.delete_plans !== after.delete_plans && found.planned.every(({ phase }) => phase === 'delete'))
      return [this.#plans(after, found, call)]
    if (isRaised || before.lock_token !== after.lock_token) return [odd(`the row of job ${after.id} is changed`)]
    return []
  }

  #job = (row: Row): number => this.#numbers.of(row.id ?? '')

  /** A task that writes to a job, as it was called. */
  #by(call: Call | undefined): By {
    const { job, lock } = (call?.event ?? {}) as { job?: { id: number; fence: number }; lock?: { token: string } }
    return {
      job: job === undefined ? 0 : this.#numbers.of(String(job.id)),
      fence: job?.fence ?? 0,
      token: lock === undefined ? 0 : this.tokens.of(lock.token),
    }
  }

  #opens(row: Row, call: Call | undefined, isNew: boolean): TraceEvent {
    if (call === undefined || (call.event as Partial<OpenJobInput>).staged === undefined)
      return odd(`job ${row.id} is opened by ${call?.task ?? 'nobody known'}`)
    const { request, own, head, lock, staged, execution, life } = call.event as OpenJobInput
    // A forced job of the same file is another file to the model.
    if (!this.#sources.has(staged.digest) || (isNew && request.force && own === null))
      this.#sources.set(staged.digest, 1 + new Set(this.#sources.values()).size)
    return {
      kind: 'OPENED',
      execution: this.#executions.of(lifeOf({ execution, life })),
      token: this.tokens.of(lock.token),
      job: own === null ? 0 : this.#numbers.of(String(own.id)),
      fence: own?.fence ?? 0,
      headJob: head === null ? 0 : this.#numbers.of(String(head.job)),
      headFence: head?.fence ?? 0,
      part: request.supersede ? 1 : 0,
      number: this.#sources.get(staged.digest) ?? 0,
      ...this.left(),
      what: `job ${row.id} is ${isNew ? `opened in slot ${row.slot}` : 'taken over'} under fence ${row.fence}`,
    }
  }

  #halts(row: Row, call: Call | undefined): TraceEvent {
    const { execution, detail } = (call?.event ?? {}) as { execution?: string; detail?: { executionArn: string } }
    const by = this.#executions.ofArn(execution ?? detail?.executionArn ?? row.execution ?? '')
    return { kind: 'HALTED', execution: by, job: this.#job(row), ...this.left(), what: `job ${row.id} is halted` }
  }

  #plans(row: Row, { planned }: SliceChanges, call: Call | undefined): TraceEvent {
    this.#firstOfPlan.set(row.id ?? '', Math.min(...planned.map(({ number }) => Number(number))))
    const what = `${planned.length} delete chunks of job ${row.id} are planned`
    return { kind: 'PLANNED', ...this.#by(call), number: bits(planned.length), ...this.left(), what }
  }

  #moves(before: Row, after: Row, { planned }: SliceChanges, call: Call | undefined): TraceEvent {
    const kind = STEPS[`${before.state} ${after.state}`]
    if (kind === undefined) return odd(`job ${after.id} goes from ${before.state} to ${after.state}`)
    const id = after.id ?? ''
    if (kind === 'BEGINS') this.#chunks.set(after.source_digest ?? '', planned.length)
    const number = bits(this.#chunks.get(after.source_digest ?? '') ?? 0)
    return { kind, ...this.#by(call), number, ...this.left(), what: `job ${id} is ${after.state}` }
  }

  #chunk(found: SliceChanges, chunk: Row, call: Call | undefined): TraceEvent {
    const { phase, number, job_id: id, row_count: due } = chunk
    const [job] = [this.#jobs.get(id ?? '')]
    const [rows, others] = phase === 'delete' ? [found.deleted, found.inserted] : [found.inserted, found.deleted]
    const name = `${phase} chunk ${number} of job ${id}`
    if (rows !== Number(due) || others > 0) return odd(`${name} is marked over ${rows} rows of ${due}`)
    if (found.slots.size > 1) return odd(`${name} changes both slots`)
    const index = Number(number) - (phase === 'delete' ? (this.#firstOfPlan.get(id ?? '') ?? 0) : 0)
    return {
      kind: 'CHUNK',
      ...this.#by(call),
      part: phase === 'delete' ? 0 : 1,
      number: 2 ** index,
      slot: [...found.slots][0] ?? Number(job?.slot ?? 0),
      what: `${name} takes effect`,
    }
  }
}

const odd = (what: string): TraceEvent => ({ kind: 'NO_STEP', what })
