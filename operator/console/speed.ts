import type { Progress } from '../operations/operations.ts'

type Sample = { readonly atMs: number; readonly state: string; readonly rowsMarked: number; readonly rows: number }

export type Speed = Pick<Progress, 'rowsPerS' | 'secondsLeft'>

/** Chunks end in bursts: over less than this the speed would jump with each of them. */
const WINDOW_MS = 15_000

/** Runs that are remembered; who looks at more at once sees the oldest ones' speed a few seconds later. */
const RUNS_MAX = 32

/**
 * Rows a second of the phase that runs, over the last looks at a run: a single look, which is all that a page makes,
 * knows no speed.
 */
export class Speeds {
  readonly #samples = new Map<string, Sample[]>()

  of({ executionArn, job }: Progress, atMs = Date.now()): Speed {
    const phase = job?.state === 'DELETING' ? job.delete : job?.state === 'REGISTERING' ? job.register : null
    if (job === null || phase === null) return { rowsPerS: null, secondsLeft: null }
    const now = { atMs, state: job.state, rowsMarked: phase.rowsMarked, rows: phase.rows }
    const before = (this.#samples.get(executionArn) ?? []).filter(
      (sample) => sample.state === now.state && atMs - sample.atMs <= WINDOW_MS,
    )
    this.#remember(executionArn, [...before, now])
    const [first = now] = before
    const seconds = (now.atMs - first.atMs) / 1_000
    const rows = now.rowsMarked - first.rowsMarked
    if (seconds <= 0 || rows <= 0) return { rowsPerS: null, secondsLeft: null }
    const rowsPerS = Math.round(rows / seconds)
    return { rowsPerS, secondsLeft: Math.ceil(((now.rows - now.rowsMarked) * seconds) / rows) }
  }

  #remember(executionArn: string, samples: Sample[]): void {
    this.#samples.delete(executionArn)
    const oldest = this.#samples.size >= RUNS_MAX ? this.#samples.keys().next().value : undefined
    if (oldest !== undefined) this.#samples.delete(oldest)
    this.#samples.set(executionArn, samples)
  }
}
