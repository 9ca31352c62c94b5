import { count } from '../../functions/contract/numbers.ts'
import type { Progress } from '../operations/progress.ts'
import { phaseOf } from '../operations/speed.ts'
import { duration } from './duration.ts'
import { bar, percent } from './text.ts'

/** Between the parts of a line. */
const GAP = '  '

/** What a line holds, in the order of the line; where it does not fit, the part with the highest number goes first. */
const partsOf = (progress: Progress): [number, string][] => {
  const { distributor, month, at, job, rowsPerS, secondsLeft, trouble } = progress
  const phase = phaseOf(job)
  const parts: [number, string][] = [[0, `${distributor} ${month}`]]
  // In front, for what cannot be seen makes the rest old.
  if (trouble !== null) parts.push([1, `(${trouble})`])
  parts.push([4, at ?? 'starting'])
  if (job !== null) parts.push([8, `job ${job.job}, fence ${job.fence}`])
  if (phase !== null && phase.rows > 0) {
    const { rowsMarked, rows } = phase
    parts.push([7, bar(rowsMarked, rows)], [2, percent(rowsMarked, rows)])
    parts.push([5, `${count(rowsMarked)} of ${count(rows)} rows`])
  }
  if (rowsPerS !== null) parts.push([6, `${count(rowsPerS)} rows/s`])
  if (secondsLeft !== null) parts.push([3, `${duration(secondsLeft)} left`])
  return parts
}

/**
 * One line: `ARIA 2026-10  RegisterChunks  job 3, fence 1  [####....]  52 %  420,000 of 800,000 rows ...`. In a narrow
 * terminal what matters stays: the slice, trouble, the percentage and the time left.
 *
 * @param columns of the terminal; by default there is no end
 */
export const progressText = (progress: Progress, columns = Number.POSITIVE_INFINITY): string => {
  let parts = partsOf(progress)
  const line = (): string => parts.map(([, text]) => text).join(GAP)
  while (line().length > columns && parts.length > 1) {
    const last = Math.max(...parts.map(([rank]) => rank))
    // Trouble is long: of it, as much is said as there is room for.
    if (last <= 3 && progress.trouble !== null) return shortened(parts, columns)
    parts = parts.filter(([rank]) => rank !== last)
  }
  return line()
}

/** The sentence of the trouble is cut, and percentage and time left stay behind it. */
const shortened = (parts: readonly [number, string][], columns: number): string => {
  const rest = parts.filter(([rank]) => rank !== 1).map(([, text]) => text.length + GAP.length)
  const room = columns - rest.reduce((sum, length) => sum + length, 0)
  return parts.map(([rank, text]) => (rank === 1 ? `${text.slice(0, Math.max(room - 2, 0))}…)` : text)).join(GAP)
}
