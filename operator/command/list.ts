import type { Command } from 'commander'
import { addMonths, currentMonth, isMonthRange, monthsFrom } from '../../functions/contract/months.ts'
import { counted } from '../../functions/contract/numbers.ts'
import { sliceOptions } from '../../functions/contract/remedies.ts'
import type { DistributorLine, SliceLine } from '../../functions/contract/reports.ts'
import { seoulTime } from '../../functions/contract/seoul-time.ts'
import { SLICE_MONTHS_MAX } from '../../functions/contract/support-limits.ts'
import { type WarnedFile, warningNames } from '../../functions/contract/warnings.ts'
import { sliceName } from '../../functions/contract/words.ts'
import { table } from '../format/table.ts'
import { OperationError } from '../operations/operation-error.ts'
import { acting, monthOf } from './command-context.ts'

/** Months that are listed unless others are named. */
const MONTHS_SHOWN = 6

type Options = { readonly from?: string; readonly to?: string; readonly month?: string }

/** `--month` is one; else up to `--to`, or to now. */
export const rangeOf = ({ from, to, month }: Options): { from: string; to: string } => {
  if (month !== undefined) return { from: monthOf(month), to: monthOf(month) }
  const last = to === undefined ? currentMonth() : monthOf(to)
  const first = from === undefined ? addMonths(last, 1 - MONTHS_SHOWN) : monthOf(from)
  if (isMonthRange(first, last)) return { from: first, to: last }
  const months = monthsFrom(first, last).length
  throw new OperationError(
    'Usage',
    months === 0
      ? `--from ${first} is after --to ${last}.`
      : `${first} to ${last} are ${months} months, and ${SLICE_MONTHS_MAX} are shown at most. Give --to, or a later --from.`,
  )
}

export const withRange = (command: Command): Command =>
  command
    .option(
      '--from <month>',
      `the first month (default: ${MONTHS_SHOWN} months up to the last; ${SLICE_MONTHS_MAX} at most)`,
    )
    .option('--to <month>', 'the last month (default: this month)')
    .option('-m, --month <month>', 'one month only')

/** One row per distributor, one column per month; names last, for they may be of any script. */
const grid = (
  months: readonly string[],
  distributors: readonly DistributorLine[],
  slices: readonly SliceLine[],
): string[] => {
  const statuses = new Map(slices.map((slice) => [`${slice.distributor} ${slice.month}`, slice.status]))
  const rows = distributors.map(({ code, name, active }) => [
    code,
    ...months.map((month) => statuses.get(`${code} ${month}`) ?? '-'),
    active ? name : `${name} (inactive)`,
  ])
  return table([['', ...months, 'name'], ...rows])
}

/** What waits for a person, or is being worked on. */
const unsettled = (slices: readonly SliceLine[]): string[] =>
  slices
    .filter(({ status }) => status !== 'settled')
    .map(({ distributor, month, job, state, status, rows, haltedAt, haltError, openedAt }) =>
      status === 'withdrawn'
        ? `  ${distributor} ${month}: the set of job ${job} is withdrawn: sharelock show ${job}`
        : status === 'halted'
          ? `  ${distributor} ${month}: job ${job} halted in ${state} by ${haltError ?? '?'}, ${seoulTime(haltedAt ?? openedAt)}: sharelock show ${job}`
          : `  ${distributor} ${month}: job ${job} in ${state} since ${seoulTime(openedAt)}, ${counted(rows, 'row')}: sharelock watch ${job}`,
    )

/** The columns of CSV: a line for each month of a distributor that has a job. */
const FIELDS = [
  ...['distributor', 'month', 'job', 'state', 'status', 'rows', 'openedAt', 'registeredAt', 'haltedAt', 'haltError'],
]

const warnedLine = (file: WarnedFile): string =>
  `  ${sliceName(file)}: ${file.key}, ${warningNames(file.warnings)}: sharelock start ${sliceOptions(file)} --source ${file.key}`

export const addList = (program: Command): void => {
  withRange(program.command('list'))
    .summary('list months x distributors')
    .description(
      'Lists the status of every distributor in each month: settled, being replaced, halted, or - for no job yet.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  sharelock list\n  sharelock list --from 2026-01 --to 2026-10\n  sharelock list --month 2026-10 --json',
    )
    .action(
      acting(async ({ out, operations }, options: Options) => {
        const { from, to } = rangeOf(options)
        const { slices, warned, distributors } = await (await operations()).list(from, to)
        out.document({ from, to, slices, warned, distributors })
        out.records(FIELDS, slices)
        out.answer(...grid(monthsFrom(from, to), distributors, slices))
        const waiting = unsettled(slices)
        if (waiting.length > 0) out.answer('', 'Not settled (times of Seoul):', ...waiting)
        if (warned.length > 0) out.answer('', 'Not started, for their warnings:', ...warned.map(warnedLine))
        return 0
      }),
    )
}
