import { MetricUnit } from '@aws-lambda-powertools/metrics'
import middy, { type MiddlewareObj } from '@middy/core'
import type { Context } from 'aws-lambda'
import { z } from 'zod'
import { FAILURE_FAMILIES, Failure, isFailure } from '../contract/errors.ts'
import { ANSWER_RESERVE_MS } from '../contract/limits.ts'
import type { FunctionName } from '../contract/tasks.ts'
import { tokenDigest } from '../store/lock/holder.ts'
import { createServices, type Services } from './services.ts'

/** One invocation: the sandbox's services and the time that is left. */
export type Run = Services & { readonly remainingMs: () => number }

/** What may stand in any task's input and identifies it in the logs. */
const Identity = z.object({
  execution: z.string().optional(),
  slice: z.object({ distributor: z.string(), month: z.string() }).optional(),
  job: z.object({ id: z.number(), fence: z.number() }).nullish(),
  lock: z.object({ token: z.string() }).optional(),
  item: z.object({ from: z.number(), to: z.number() }).optional(),
})

/** Names the job in every log line of the invocation; the token appears as its digest only. */
const identify = (services: Services): MiddlewareObj => ({
  before: ({ event, context }) => {
    services.logger.resetKeys()
    services.logger.addContext(context)
    const { data } = Identity.safeParse(event)
    services.logger.appendKeys({
      execution: data?.execution,
      slice: data?.slice,
      job: data?.job?.id,
      fence: data?.job?.fence,
      token: data?.lock === undefined ? undefined : tokenDigest(data.lock.token),
      item: data?.item,
    })
  },
})

/** Counts and logs a failure; a fence that refused a write is the number operators watch. */
const report = (services: Services): MiddlewareObj => ({
  after: () => publish(services),
  onError: ({ error }) => {
    const family = isFailure(error) ? FAILURE_FAMILIES[error.name] : 'unexpected'
    if (isFailure(error, 'StaleFence', 'Superseded')) services.metrics.addMetric('fence.rejected', MetricUnit.Count, 1)
    services.logger[family === 'unexpected' || family === 'terminal' ? 'error' : 'warn']('task failed', {
      family,
      error: error as Error,
    })
    publish(services)
  },
})

/** Returns nothing: middy takes a middleware's return value for the handler's answer. */
const publish = ({ metrics }: Services): void => {
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics()
}

/** Validates the input at the task's door: unknown or ill-formed fields never reach the work. */
const parseInput = <Input extends z.ZodType>(schema: Input, event: unknown): z.output<Input> => {
  const result = schema.safeParse(event)
  if (result.success) return result.data
  throw new Failure('InvalidInput', `The input is not what this task takes:\n${z.prettifyError(result.error)}`)
}

/**
 * Makes a Lambda handler of a task: input checked, deadline set, logs and metrics named. Services live as long as the
 * sandbox. The database's deadline ends before Lambda's, so that a failure has a name and not just a timeout.
 */
export const task = <Input extends z.ZodType, Output>(
  name: FunctionName,
  schema: Input,
  work: (input: z.output<Input>, run: Run) => Promise<Output>,
) => {
  const services = createServices(name, process.env)
  return middy()
    .use(identify(services))
    .use(report(services))
    .handler(async (event: unknown, context: Context): Promise<Output> => {
      const input = parseInput(schema, event)
      services.database.deadlineAt = Date.now() + context.getRemainingTimeInMillis() - ANSWER_RESERVE_MS
      return await work(input, { ...services, remainingMs: () => context.getRemainingTimeInMillis() })
    })
}
