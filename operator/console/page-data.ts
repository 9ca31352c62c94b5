import { z } from 'zod'
import { DistributorCode, Month } from '../../functions/contract/messages.ts'
import { currentMonth } from '../../functions/contract/months.ts'
import type { JobReport, SliceLine } from '../../functions/contract/reports.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { OperationError } from '../operations/operation-error.ts'
import type { Operations } from '../operations/operations.ts'
import type { Progress } from '../operations/progress.ts'
import type { Overview } from './pages/overview.ts'
import type { SliceView } from './pages/slice-view.ts'
import { monthsUpTo } from './parts/months.ts'
import { overviewRows } from './parts/overview-rows.ts'
import { rowsDone } from './parts/rows-done.ts'

/** Running slices whose progress the overview asks for: one call each, every time the page refreshes. */
const PROGRESS_SHOWN_MAX = 12

/** What the overview shows. @param to the newest month; by default the current one in Seoul */
export const overviewData = async (operations: Operations, to: string | undefined): Promise<Overview> => {
  const now = currentMonth()
  const months = monthsUpTo(Month.safeParse(to).data ?? now)
  const { slices, warned, distributors } = await operations.list(months.at(-1) ?? now, months[0] ?? now)
  const running = slices.filter(({ status }) => status === 'being replaced').slice(0, PROGRESS_SHOWN_MAX)
  const work = await Promise.all(
    running.map(async (slice) => [sliceName(slice), await rowsDoneOf(operations, slice)] as const),
  )
  return { months, currentMonth: now, rows: overviewRows(distributors, slices, months), warned, work: new Map(work) }
}

const rowsDoneOf = async (operations: Operations, { distributor, month }: SliceLine) => {
  const { jobs } = await operations.show({ distributor, month })
  return jobs[0] === undefined ? { done: 0, all: 0 } : rowsDone(jobs[0])
}

/** The parts of a slice's address. */
export const sliceOf = (distributor: string | undefined, month: string | undefined): SliceName => {
  const slice = z.object({ distributor: DistributorCode, month: Month }).safeParse({ distributor, month })
  if (slice.success) return slice.data
  throw new OperationError(
    'NotFound',
    `There is no slice ${distributor} ${month}: it takes a code and a month as YYYY-MM.`,
  )
}

/** What the page of a slice was asked to show. */
export type SliceQuery = {
  readonly job: string | undefined
  /** An execution that was just started from here: its job may not be open yet, or never will be. */
  readonly execution: string | undefined
}

export const sliceData = async (
  operations: Operations,
  slice: SliceName,
  query: SliceQuery,
): Promise<Omit<SliceView, 'notice'>> => {
  const [report, distributors] = await Promise.all([operations.show(slice), operations.distributors()])
  const job = jobOf(report.jobs, query.job)
  const name = distributors.find(({ code }) => code === slice.distributor)?.name ?? slice.distributor
  const progress = await follow(operations, slice, report.jobs[0], query.execution)
  return { name, report, job, progress }
}

const jobOf = (jobs: readonly JobReport[], asked: string | undefined): JobReport | null => {
  if (asked === undefined) return jobs[0] ?? null
  const found = jobs.find(({ job }) => String(job) === asked)
  if (found === undefined) throw new OperationError('NotFound', `Job ${asked} is not among the newest of this month.`)
  return found
}

/** The run to follow: the one that was asked for, else the one that works on the slice, else the one that halted. */
const follow = async (
  operations: Operations,
  slice: SliceName,
  newest: JobReport | undefined,
  asked: string | undefined,
): Promise<Progress | null> => {
  const working = newest?.status === 'being replaced' ? newest.execution : null
  const halted = newest?.status === 'halted' ? newest.execution : null
  const arn = asked ?? working ?? (await operations.runningExecution(slice)) ?? halted
  if (arn === null) return null
  try {
    const progress = await operations.look(arn)
    return sliceName(progress) === sliceName(slice) ? progress : null
  } catch (error) {
    // AWS forgets an execution after 90 days, and the job's own row still says why it halted.
    if (error instanceof OperationError && error.name === 'NotFound') return null
    throw error
  }
}

/** The address that follows a run. */
export const sliceAddress = ({ distributor, month }: SliceName, execution?: string, notice?: string): string => {
  const query = new URLSearchParams({ ...(execution && { execution }), ...(notice && { notice }) })
  return `/slices/${distributor}/${month}${query.size === 0 ? '' : `?${query}`}`
}
