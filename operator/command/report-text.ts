import { executionNameOf } from '../../functions/contract/execution.ts'
import { count, counted } from '../../functions/contract/numbers.ts'
import type { AuditLine, JobReport, LockReport, PhaseReport, SliceReport } from '../../functions/contract/reports.ts'
import { seoulTime } from '../../functions/contract/seoul-time.ts'
import { duration } from '../format/duration.ts'
import { facts, table } from '../format/table.ts'
import { bar, percent } from '../format/text.ts'
import type { Output } from './output.ts'
import { heldText } from './validation-text.ts'

/** `held by NAME, 290 s left, token 0f1e2d3c4b5a`. */
export const lockText = (lock: SliceReport['lock']): string => {
  if (lock === null) return 'not locked'
  if (lock === 'unreachable') return 'Valkey does not answer: whether it is locked is not known'
  return `locked by ${lock.holder}, ${remainingText(lock)}, token ${lock.tokenDigest}${carrier(lock)}`
}

const remainingText = ({ remainingMs }: LockReport): string =>
  remainingMs === null ? 'without an end' : `${duration(remainingMs / 1_000)} left unless extended`

const carrier = ({ job }: LockReport): string => (job === null ? ', carried by no job' : `, job ${job}`)

const phaseText = ({ chunks, marked, rows, rowsMarked }: PhaseReport): string =>
  chunks === 0
    ? 'not planned'
    : `${bar(marked, chunks)} ${percent(marked, chunks)}  ${count(marked)} of ${counted(chunks, 'chunk')}, ${count(rowsMarked)} of ${counted(rows, 'row')}`

const timesOf = ({ at }: JobReport): string => {
  const reached = [
    ['DELETING', at.created],
    ['DELETED', at.deleted],
    ['REGISTERING', at.registering],
    ['REGISTERED', at.registered],
    ['withdrawn', at.withdrawn],
    ['closed', at.closed],
  ] as const
  return reached.flatMap(([state, time]) => (time === null ? [] : [`${state} ${seoulTime(time)}`])).join(', ')
}

/** Colour of a status; green only where readers can read it. */
const statusText = (out: Output, status: JobReport['status']): string =>
  out.style(
    status === 'settled' ? 'green' : status === 'halted' ? 'red' : status === 'closed' ? 'dim' : 'yellow',
    status,
  )

/** Everything about one job. */
export const jobLines = (out: Output, job: JobReport): string[] => [
  `Job ${job.job}: ${job.state}, ${statusText(out, job.status)}`,
  ...facts([
    ['states', timesOf(job)],
    ['delete', phaseText(job.delete)],
    ['register', phaseText(job.register)],
    ['fence', String(job.fence)],
    [
      'source',
      `${job.source.digest.slice(0, 12)}, ${counted(job.source.rows, 'row')}, sum ${job.source.shareSum}${job.isUndo ? ', an undo' : ''}`,
    ],
    ...(job.held === undefined ? [] : ([['held', heldText(job.held)]] as const)),
    ...(job.waitsFor === null ? [] : ([['waits for', job.waitsFor]] as const)),
    ['execution', executionNameOf(job.execution)],
    ['started by', job.requestedBy],
    ...(job.halt === null
      ? []
      : ([
          ['halted', `${seoulTime(job.halt.at)} by ${job.halt.error}`],
          ['because', job.halt.cause],
        ] as const)),
  ]),
]

const detailText = ({ detail, why }: AuditLine): string => {
  const parts = Object.entries(detail).flatMap(([name, value]) => (value === null ? [] : [`${name} ${value}`]))
  return [why, ...parts].filter((part) => part !== '').join('; ')
}

/** The audit trail, newest first. */
export const auditLines = (lines: readonly AuditLine[]): string[] =>
  lines.length === 0
    ? ['Nothing was recorded.']
    : table(
        lines.map((line) => [
          seoulTime(line.at),
          line.action,
          `${line.distributor}${line.month === null ? '' : ` ${line.month}`}`,
          line.job === null ? '' : `job ${line.job}`,
          line.caller,
          [line.execution ?? '', detailText(line)].filter((part) => part !== '').join('; '),
        ]),
      )
