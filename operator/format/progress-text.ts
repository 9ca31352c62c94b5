import { count } from '../../functions/contract/numbers.ts'
import type { Progress } from '../operations/progress.ts'
import { phaseOf } from '../operations/speed.ts'
import { duration } from './duration.ts'
import { bar, percent } from './text.ts'

/** One line: `ARIA 2026-10  RegisterChunks  job 3, fence 1  [####....]  52 %  420,000 of 800,000 rows ...`. */
export const progressText = (progress: Progress): string => {
  const { distributor, month, at, job, rowsPerS, secondsLeft, trouble } = progress
  const phase = phaseOf(job)
  const parts = [`${distributor} ${month}`, at ?? 'starting']
  if (job !== null) parts.push(`job ${job.job}, fence ${job.fence}`)
  if (phase !== null && phase.rows > 0) {
    const { rowsMarked, rows } = phase
    parts.push(bar(rowsMarked, rows), percent(rowsMarked, rows), `${count(rowsMarked)} of ${count(rows)} rows`)
  }
  if (rowsPerS !== null) parts.push(`${count(rowsPerS)} rows/s`)
  if (secondsLeft !== null) parts.push(`${duration(secondsLeft)} left`)
  if (trouble !== null) parts.push(`(${trouble})`)
  return parts.join('  ')
}
