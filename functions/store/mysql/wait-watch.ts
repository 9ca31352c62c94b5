import type { Blocker } from './blockers.ts'

/** A look that is under way when the wait ends is waited for so long, for the error's sake only. */
const LAST_LOOK_MS = 1_000

/**
 * Looks after a statement for as long as it runs: every `everyMs`, who keeps it waiting.
 * See decisions.md, "A session that keeps others waiting is killed".
 */
export class WaitWatch {
  readonly #timer: NodeJS.Timeout
  #looking: Promise<void> = Promise.resolve()
  #seen: readonly Blocker[] = []

  /** @param look a look that fails changes nothing: the wait then ends by its own timeout */
  constructor(look: () => Promise<readonly Blocker[]>, everyMs: number) {
    this.#timer = setInterval(() => {
      this.#looking = look().then(
        (found) => {
          // Once the wait is over nobody is to be seen any more, which is no news.
          if (found.length > 0) this.#seen = found
        },
        () => undefined,
      )
    }, everyMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Who was seen in the way and is nobody we may end. */
  async seen(): Promise<readonly Blocker[]> {
    await Promise.race([this.#looking, new Promise((resume) => setTimeout(resume, LAST_LOOK_MS).unref())])
    return this.#seen
  }
}
