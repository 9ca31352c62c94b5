import { MetricUnit } from '@aws-lambda-powertools/metrics'
import { DISPATCHER } from '../contract/dispatched.ts'
import type { ExecutionInput } from '../contract/messages.ts'
import type { Slice } from '../contract/words.ts'
import { repeatable, statement } from '../store/mysql/transaction.ts'
import { neighboursOf } from '../store/neighbours.ts'
import { writeWarned } from '../store/warned.ts'
import type { WarningPolicy } from './staging/confirm-warnings.ts'
import type { TaskContext } from './task.ts'

/**
 * What a request says about warnings. Of a file that the schedule brought, and that is refused for them, a note stays: it
 * waits for an operator, and nobody else looks at how that run ended.
 */
export const warningPolicy = (
  { database, metrics, logger }: TaskContext,
  slice: Slice,
  request: ExecutionInput,
  execution: string,
): WarningPolicy => ({
  confirmed: request.confirmed ?? [],
  strict: request.strict === true,
  neighbours: (digest) => statement(database, (reader) => neighboursOf(reader, slice, digest)),
  onUnconfirmed: async ({ digest, etag, warnings }) => {
    logger.warn('warnings that nobody confirmed', { digest, warnings })
    const { source } = request
    const key = 'key' in source ? source.key : 'parts' in source ? source.parts : undefined
    if (request.requestedBy !== DISPATCHER || key === undefined) return
    await repeatable(database, (one) => writeWarned(one, slice, { key, etag, digest, execution, warnings }))
    metrics.addMetric('source.warned', MetricUnit.Count, 1)
  },
})
