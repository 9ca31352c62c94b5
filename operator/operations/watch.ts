import { setTimeout as sleep } from 'node:timers/promises'
import type { Clients } from './clients.ts'
import { isPassing } from './failures.ts'
import { LOOK_PAUSE_MAX_MS, LOOKS_FAILED_MAX } from './limits.ts'
import { lookAt } from './look.ts'
import type { Progress } from './progress.ts'
import type { Speeds } from './speed.ts'

/** Waits, and returns early where the watcher has had enough. */
const pause = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}

/**
 * Looks until the execution has ended; the last value says how. A look that fails is made again, with growing pauses,
 * and said; the run itself does not depend on being watched. An aborted signal ends the watching and nothing else.
 */
export async function* watchRun(
  clients: Clients,
  executionArn: string,
  speeds: Speeds,
  pollMs: number,
  signal?: AbortSignal,
): AsyncGenerator<Progress> {
  let last: Progress | undefined
  for (let failed = 0; signal?.aborted !== true; ) {
    try {
      last = await lookAt(clients, executionArn, speeds, last)
      failed = 0
      yield last
      if (last.status !== 'RUNNING') return
      await pause(pollMs, signal)
    } catch (error) {
      failed += 1
      if (!isPassing(error) || failed > LOOKS_FAILED_MAX) throw error
      if (last !== undefined) yield { ...last, trouble: (error as Error).message }
      await pause(Math.min(pollMs * 2 ** failed, LOOK_PAUSE_MAX_MS), signal)
    }
  }
}
