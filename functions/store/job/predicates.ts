import type { SliceStatus } from '../../contract/words.ts'
import type { JobRow } from './row.ts'

/* What a job's row says, wherever it is asked. */

/** Neither REGISTERED nor closed: the slice's one job that may still write. The column open_slice says the same. */
export const isOpen = (job: Pick<JobRow, 'state' | 'closed_at'>): boolean =>
  job.state !== 'REGISTERED' && job.closed_at === null

/** Stopped before REGISTERED, until it is opened again. */
export const isHalted = (job: Pick<JobRow, 'halted_at'>): boolean => job.halted_at !== null

/** Open, and as far as its row says somebody works on it. */
export const isRunning = (job: Pick<JobRow, 'state' | 'closed_at' | 'halted_at'>): boolean =>
  isOpen(job) && !isHalted(job)

type Numbers = Pick<JobRow, 'id' | 'fence'>

/** The job of this number, and nobody raised its fence since. Numbers repeat where the database goes back in time. */
export const isUnderFence = (job: Numbers, seen: Numbers | null | undefined): boolean =>
  job.id === seen?.id && job.fence === seen.fence

/** Opened by the acquisition of the lock with this token, of which there is one. */
export const hasToken = (job: Pick<JobRow, 'lock_token'>, token: string | null): boolean => job.lock_token === token

/** Still that of who has these: nobody else opened, closed or halted it since. */
export const isHeldBy = (
  job: Pick<JobRow, 'id' | 'fence' | 'lock_token'>,
  { token, ...seen }: Numbers & { readonly token: string | null },
): boolean => isUnderFence(job, seen) && hasToken(job, token)

/** What a slice's newest job makes of it; the view slice_status says the same, and whose set is read meanwhile. */
export const statusOf = (job: Pick<JobRow, 'state' | 'halted_at' | 'withdrawn_at'>): SliceStatus => {
  if (job.withdrawn_at !== null) return 'withdrawn'
  if (job.state === 'REGISTERED') return 'settled'
  return isHalted(job) ? 'halted' : 'being replaced'
}
