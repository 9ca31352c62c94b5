import type { Command } from 'commander'
import { counted } from '../../functions/contract/numbers.ts'
import { remedyOf, remedyText, sliceOptions } from '../../functions/contract/remedies.ts'
import type { JobReport, SliceReport } from '../../functions/contract/reports.ts'
import type { SliceName } from '../../functions/contract/words.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { facts, table } from '../format/table.ts'
import { acting, jobOf, type SliceOptions, sliceOf } from './command-context.ts'
import type { Output } from './output.ts'
import { auditLines, jobLines, lockText } from './report-text.ts'
import { withSlice } from './slice-options.ts'

/** Audit lines that are shown with a slice; `sharelock audit` has more. */
const AUDIT_SHOWN = 10

/** One line for each job but the one that is shown in full. */
const otherLines = (jobs: readonly JobReport[]): string[] =>
  table(
    jobs.map(({ job, state, status, source, requestedBy }) => [
      `  ${job}`,
      status === 'closed' ? `closed in ${state}` : state,
      counted(source.rows, 'row'),
      source.digest.slice(0, 12),
      requestedBy,
    ]),
    [2],
  )

/** A lock whose run is gone: nobody extends it, and nobody has to be watched. */
const leftBehind = ({ lock, ...slice }: SliceReport, end: string | null): string[] =>
  lock === null || lock === 'unreachable' || end === null
    ? []
    : [
        `  Its holder ${end === 'GONE' ? 'does not exist' : `ended as ${end}`}, so nobody extends the lock. If you can't wait: sharelock unlock ${sliceOptions(slice)} --token ${lock.tokenDigest}`,
      ]

/** What a halted job waits for. */
const wayOn = (slice: SliceName, job: JobReport | undefined): string[] =>
  job?.status === 'halted' && job.halt !== null
    ? facts([['what to do', remedyText(remedyOf(job.halt.error, slice, true))]])
    : []

/** Which set is read. */
const readLine = ({ active, jobs }: SliceReport): string => {
  if (active === null) return 'Readers see no set.'
  const rows = jobs.find(({ job }) => job === active)?.source.rows
  return `Readers see the set of job ${active}${rows === undefined ? '' : `, ${counted(rows, 'row')}`}.`
}

const reportLines = (
  out: Output,
  report: SliceReport,
  job: number | undefined,
  endOfHolder: string | null,
): string[] => {
  const { jobs, lock, audit } = report
  const shown = job === undefined ? jobs[0] : jobs.find((each) => each.job === job)
  const others = jobs.filter((each) => each !== shown)
  const none = job === undefined ? 'No job ever ran.' : `Job ${job} is too old to be shown in full.`
  return [
    `${sliceName(report)} (times of Seoul): ${lockText(lock)}`,
    ...(jobs.length === 0 ? [] : [readLine(report)]),
    ...leftBehind(report, endOfHolder),
    ...(shown === undefined ? [none] : jobLines(out, shown)),
    ...wayOn(report, shown),
    ...(others.length === 0 ? [] : ['Other jobs', ...otherLines(others)]),
    ...(audit.length === 0 ? [] : ['Audit', ...auditLines(audit.slice(0, AUDIT_SHOWN)).map((line) => `  ${line}`)]),
  ]
}

export const addShow = (program: Command): void => {
  withSlice(program.command('show').argument('[job]', "a job's number, instead of distributor and month"))
    .summary('show a job and its slice: states, chunks, lock, failure, audit')
    .description(
      'Shows when each state was reached, how many chunks are done, who holds the lock and for how long, the fence, the source, who started it, why it halted, the other jobs of the slice and its audit trail.',
    )
    .addHelpText('after', '\nExamples:\n  sharelock show 12\n  sharelock show -d ARIA -m 2026-10 --json')
    .action(
      acting(async ({ out, operations: open }, job: string | undefined, options: SliceOptions) => {
        const number = job === undefined ? undefined : jobOf(job)
        const operations = await open()
        const report = await operations.show(number === undefined ? sliceOf(options) : { job: number })
        const endOfHolder = await operations.endOfHolder(report.lock)
        out.document({ ...report, endOfHolder })
        out.answer(...reportLines(out, report, number, endOfHolder))
        return 0
      }),
    )
}
