import { Failure } from '../../contract/failures.ts'

/**
 * One call of a Lambda function: what it may use, and until when. Everything that waits for a store waits through here,
 * so that no wait outlasts the time that is left, and nothing of a call that has ended goes on in the next one, which
 * runs in the same process and finds the same connections.
 *
 *   open --> late: its time is up, what waits ends by OutOfTime --> over: it has ended, whatever it still asks for is
 * refused
 * See decisions.md, "An invocation owns what it uses".
 */
export class Invocation {
  readonly #endsAt: number
  readonly #stops = new Set<() => void>()
  readonly #closers: (() => void)[] = []
  readonly #timer: NodeJS.Timeout | undefined
  #state: 'open' | 'late' | 'over' = 'open'

  /** @param leftMs until its waits end; without a limit for programs that are not called by Lambda */
  constructor(leftMs = Number.POSITIVE_INFINITY) {
    // A monotonic clock: a step of the wall clock makes no task late.
    this.#endsAt = performance.now() + leftMs
    if (leftMs !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#enter('late'), leftMs).unref()
  }

  /** Milliseconds until waits end; never less than 0. */
  get leftMs(): number {
    return this.#state === 'open' ? Math.max(0, this.#endsAt - performance.now()) : 0
  }

  get isOver(): boolean {
    return this.#state === 'over'
  }

  /**
   * @param what is about to be asked for, as in "while it waited for MySQL"
   * @throws Failure OutOfTime, InvocationOver
   */
  check(what: string): void {
    if (this.leftMs === 0) throw this.#refusal(what)
  }

  /**
   * Starts `work` and waits for it, for `limitMs` at most and never beyond the time that is left. What is given up goes
   * on unseen: who calls has to cut it off.
   *
   * @param late makes the error for a wait that met its own limit
   * @throws Failure OutOfTime, InvocationOver; what `late` makes; whatever `work` throws
   */
  async within<T>(what: string, work: () => Promise<T>, limitMs: number, late: () => Error): Promise<T> {
    this.check(what)
    const { promise: given, reject } = Promise.withResolvers<never>()
    const stop = () => reject(this.#refusal(what))
    this.#stops.add(stop)
    const timer = limitMs < this.leftMs ? setTimeout(() => reject(late()), limitMs) : undefined
    // Where it throws before it waits, that is its answer too: the stop and the timer have to be forgotten in any case.
    const answer = (async () => await work())()
    // Once given up, its own failure is nobody's.
    answer.catch(() => undefined)
    try {
      return await Promise.race([answer, given])
    } finally {
      clearTimeout(timer)
      this.#stops.delete(stop)
    }
  }

  /** Calls `stop` once the time is up or the invocation ends. @returns forgets it */
  onStop(what: string, stop: (refusal: Failure) => void): () => void {
    const tell = () => {
      this.#stops.delete(tell)
      stop(this.#refusal(what))
    }
    if (this.#state === 'open') this.#stops.add(tell)
    else tell()
    return () => this.#stops.delete(tell)
  }

  /** Calls `close` when the invocation ends. */
  atEnd(close: () => void): void {
    if (this.isOver) close()
    else this.#closers.push(close)
  }

  /** Ends it: what still waits is told, and each lender takes back what it lent. A second call does nothing. */
  end(): void {
    clearTimeout(this.#timer)
    this.#enter('over')
    for (const close of this.#closers.splice(0)) close()
  }

  #enter(state: 'late' | 'over'): void {
    if (this.isOver) return
    this.#state = state
    for (const stop of [...this.#stops]) stop()
  }

  #refusal(what: string): Failure {
    return this.isOver
      ? new Failure(
          'InvocationOver',
          `The task had ended before it turned to ${what}; nothing was sent. The attempt that followed it decides.`,
        )
      : new Failure(
          'OutOfTime',
          `The task's time was up while it waited for ${what}. Nothing was half done; the task is called again.`,
        )
  }
}
