import type { JobReport, PhaseReport } from '../../functions/contract/reports.ts'

/** Rows a second, and the seconds left at that speed; null where neither is known. */
export type Speed = { readonly rowsPerS: number | null; readonly secondsLeft: number | null }

type Sample = { readonly atMs: number; readonly state: string; readonly rowsMarked: number }

export const NO_SPEED: Speed = { rowsPerS: null, secondsLeft: null }

/** Chunks end in bursts: over less than this the speed would jump with each of them. */
const WINDOW_MS = 15_000

/** Runs that are remembered; anyone who looks at more at once sees the oldest ones' speed a few seconds later. */
const RUNS_MAX = 32

/** The phase that writes rows now. */
export const phaseOf = (job: JobReport | null): PhaseReport | null =>
  job?.state === 'DELETING' ? job.delete : job?.state === 'REGISTERING' ? job.register : null

/** The samples of the window, and the last one before it: looks may be further apart than the window is long. */
const recent = (samples: readonly Sample[], { state, atMs }: Sample): Sample[] => {
  const ofState = samples.filter((sample) => sample.state === state)
  const older = ofState.findLastIndex((sample) => atMs - sample.atMs > WINDOW_MS)
  return ofState.slice(older === ofState.length - 1 ? older : older + 1)
}

/**
 * The speed of runs over their last looks: a single look, which is all that a page of the console makes, knows none.
 * decisions.md, "The speed of a run is kept by the operations".
 */
export class Speeds {
  readonly #samples = new Map<string, Sample[]>()

  /** The speed of the phase that runs now, with this look as the newest. */
  of(executionArn: string, job: JobReport | null, atMs = Date.now()): Speed {
    const phase = phaseOf(job)
    if (job === null || phase === null) return NO_SPEED
    const now = { atMs, state: job.state, rowsMarked: phase.rowsMarked }
    const before = recent(this.#samples.get(executionArn) ?? [], now)
    this.#remember(executionArn, [...before, now])
    const [first = now] = before
    const seconds = (now.atMs - first.atMs) / 1_000
    const rows = now.rowsMarked - first.rowsMarked
    const rowsLeft = phase.rows - phase.rowsMarked
    if (seconds <= 0 || rows <= 0 || rowsLeft <= 0) return NO_SPEED
    return { rowsPerS: Math.round(rows / seconds), secondsLeft: Math.ceil((rowsLeft * seconds) / rows) }
  }

  #remember(executionArn: string, samples: Sample[]): void {
    this.#samples.delete(executionArn)
    const oldest = this.#samples.size >= RUNS_MAX ? this.#samples.keys().next().value : undefined
    if (oldest !== undefined) this.#samples.delete(oldest)
    this.#samples.set(executionArn, samples)
  }
}
