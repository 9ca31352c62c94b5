import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive } from './alive.ts'
import { RUNS } from './paths.ts'

/** A run of which something was kept for a look has been looked at after this; each is about 1 GB. */
const KEEP_MS = 24 * 3_600_000

/** Removes kept runs of processes that have ended, a day after. A run's name carries its process: `<time>-<pid>-...`. */
export const pruneRuns = async (): Promise<void> => {
  for (const name of await readdir(RUNS).catch(() => [])) {
    const pid = Number(/^[a-z0-9]+-(\d+)/.exec(name)?.[1])
    const path = join(RUNS, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (Number.isInteger(pid) && !isAlive(pid) && Date.now() - mtimeMs > KEEP_MS)
      await rm(path, { recursive: true, force: true })
  }
}
