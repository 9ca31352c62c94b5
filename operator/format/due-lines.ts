/**
 * Chooses the looks at a run that get a line where lines can't be redrawn: each change of its state, and from time to
 * time any other that says something new.
 */
export class DueLines {
  readonly #everyMs: number
  #written = { at: '', text: '', ms: 0 }

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  /** @returns whether this look gets a line now; it is remembered as written then */
  take(at: string | null, text: string, nowMs = Date.now()): boolean {
    const { at: lastAt, text: lastText, ms } = this.#written
    const isDue = (at ?? '') !== lastAt || (text !== lastText && nowMs - ms > this.#everyMs)
    if (isDue) this.#written = { at: at ?? '', text, ms: nowMs }
    return isDue
  }
}
