import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'

/**
 * A process of its own that outlives its parent by a moment: when the parent ends, however it ends (kill -9 included),
 * this one's standard input closes, and it kills what the parent left running and removes what it left lying about.
 *
 * Lines on standard input: `watch <pid>`, `forget <pid>`, `folder <path>`, `keep <path>`.
 */
const pids = new Set<number>()
const folders = new Set<string>()

// Ctrl-C reaches the whole terminal group; the parent then stops its servers in order, and this process waits for it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

const REMOVE_TRIES = 20
const REMOVE_DELAY_MS = 100

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const space = line.indexOf(' ')
    const verb = line.slice(0, space)
    const value = line.slice(space + 1)
    if (verb === 'watch') pids.add(Number(value))
    else if (verb === 'forget') pids.delete(Number(value))
    else if (verb === 'folder') folders.add(value)
    else if (verb === 'keep') folders.delete(value)
  })
  .on('close', () => {
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // Ended by itself meanwhile.
      }
    }
    for (const folder of folders)
      rmSync(folder, { recursive: true, force: true, maxRetries: REMOVE_TRIES, retryDelay: REMOVE_DELAY_MS })
  })
