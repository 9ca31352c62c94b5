import { MetricUnit } from '@aws-lambda-powertools/metrics'
import { Failure } from '../contract/errors.ts'
import { DISTRIBUTORS_MAX } from '../contract/limits.ts'
import type { PlanMonthInput, PlanMonthOutput } from '../contract/messages.ts'
import { activeDistributors } from '../store/distributor.ts'
import { listSizes } from '../store/objects.ts'
import { statement } from '../store/transaction.ts'
import type { Run } from './task.ts'

/** S3 calls at once: enough for a thousand distributors in seconds, few enough for one sandbox's sockets. */
const LISTS_AT_ONCE = 10

const SEOUL = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Seoul', year: 'numeric', month: '2-digit' })

/**
 * The settlement month of a scheduled time: that of the moment in Seoul, less `monthsBack`. The text is UTC (10:00 on
 * 1 March in Seoul is 1 March 01:00Z, but 02:00 is 28 February 17:00Z), so it is converted and never cut. A delivery
 * that comes late carries the same scheduled time, and so the same month.
 *
 * @param scheduledAt ISO 8601 in UTC, as EventBridge Scheduler gives it
 * @returns `YYYY-MM`
 */
export const monthOf = (scheduledAt: string, monthsBack: number): string => {
  const parts = SEOUL.formatToParts(new Date(scheduledAt))
  const part = (type: 'year' | 'month'): number => Number(parts.find((each) => each.type === type)?.value)
  const months = part('year') * 12 + part('month') - 1 - monthsBack
  return `${Math.floor(months / 12)}-${String((months % 12) + 1).padStart(2, '0')}`
}

/**
 * Which executions a month needs: one for each active distributor whose file is there, under its agreed name. Two files
 * of one distributor are as good as none: which one is meant, a person says.
 */
export const planMonth = async (run: Run, { request, monthsBack }: PlanMonthInput): Promise<PlanMonthOutput> => {
  const month = 'month' in request ? request.month : monthOf(request.scheduledAt, monthsBack)
  const distributors = await statement(run.database, () => activeDistributors(run.database))
  if (distributors.length > DISTRIBUTORS_MAX)
    throw new Failure(
      'InvalidInput',
      `There are ${distributors.length} active distributors and one dispatch starts ${DISTRIBUTORS_MAX} at most; deactivate some`,
    )
  const starts: PlanMonthOutput['starts'] = []
  const missing: PlanMonthOutput['missing'] = []
  for (let from = 0; from < distributors.length; from += LISTS_AT_ONCE) {
    const codes = distributors.slice(from, from + LISTS_AT_ONCE).map(({ code }) => code)
    const found = await Promise.all(codes.map((code) => filesOf(run, code, month)))
    for (const [index, distributor] of codes.entries()) {
      const [key, other] = found[index] ?? []
      if (key === undefined) missing.push({ distributor, reason: 'no file' })
      else if (other === undefined) starts.push({ distributor, key })
      else missing.push({ distributor, reason: `two files: ${key} and ${other}` })
    }
  }
  run.metrics.addMetric('month.missing', MetricUnit.Count, missing.length)
  if (missing.length > 0) run.logger.warn('distributors without a file', { month, missing })
  return { month, starts, missing, missingCount: missing.length }
}

/** The names under which a distributor's file of a month may stand. */
const filesOf = async ({ s3, env }: Run, code: string, month: string): Promise<string[]> => {
  const name = `incoming/${code}/${month}.csv`
  return [...(await listSizes(s3, env.BUCKET, name)).keys()].filter((key) => key === name || key === `${name}.gz`)
}
