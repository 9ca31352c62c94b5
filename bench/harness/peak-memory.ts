import { existsSync, readFileSync } from 'node:fs'

const STATUS = '/proc/self/status'

/**
 * The most memory that this program has taken so far, in MiB. What the system tells of a process as its maximum begins,
 * on Linux, with the memory of the process that started it; the status tells of this program alone.
 */
export const peakMb = (): number => {
  const kb = existsSync(STATUS) ? /VmHWM:\s+(\d+)/.exec(readFileSync(STATUS, 'utf8'))?.[1] : undefined
  return (kb === undefined ? process.resourceUsage().maxRSS : Number(kb)) / 1_024
}
