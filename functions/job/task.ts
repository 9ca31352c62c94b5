import { MetricUnit } from '@aws-lambda-powertools/metrics'
import type { Context } from 'aws-lambda'
import { z } from 'zod'
import { FAILURES } from '../contract/failure-table.ts'
import { Failure, isFailure } from '../contract/failures.ts'
import { MEMORY_TOLD_PERCENT } from '../contract/support-limits.ts'
import type { FunctionName } from '../contract/tasks.ts'
import { tokenDigest } from '../store/lock/holder.ts'
import { safeThrow } from './safe-error.ts'
import { Sandbox, type Services } from './services.ts'

/** What a task works with: the services of its invocation, and the time that is left. */
export type TaskContext = Services & { readonly remainingMs: () => number }

/** What may be in any task's input and identifies it in the logs. */
const Identity = z.object({
  execution: z.string().optional(),
  slice: z.object({ distributor: z.string(), month: z.string() }).optional(),
  job: z.object({ id: z.number(), fence: z.number() }).nullish(),
  lock: z.object({ token: z.string() }).optional(),
  item: z.object({ from: z.number(), to: z.number() }).optional(),
})

/** Names the job in every log line of the invocation; the token appears as its digest only. */
const identify = ({ logger }: Services, event: unknown, context: Context): void => {
  logger.addContext(context)
  const { data } = Identity.safeParse(event)
  logger.appendKeys({
    execution: data?.execution,
    slice: data?.slice,
    job: data?.job?.id,
    fence: data?.job?.fence,
    token: data?.lock === undefined ? undefined : tokenDigest(data.lock.token),
    item: data?.item,
  })
}

/** Counts and logs a failure; a fence that refused a write is the number operators watch. */
const report = ({ logger, metrics }: Services, error: unknown): void => {
  const family = isFailure(error) ? FAILURES[error.name].family : 'unexpected'
  if (isFailure(error, 'StaleFence', 'Superseded')) metrics.addMetric('fence.rejected', MetricUnit.Count, 1)
  logger[family === 'unexpected' || family === 'terminal' ? 'error' : 'warn']('task failed', {
    family,
    error: error as Error,
  })
}

/**
 * What the process has had at most, in this invocation or an earlier one: Lambda ends it at its whole memory, without a word of
 * ours, and keeps no metric of it.
 */
const reportMemory = ({ metrics }: Services): void => {
  const functionMb = Number(process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE ?? 0)
  const usedPercent = functionMb > 0 ? (100 * process.resourceUsage().maxRSS) / 1_024 / functionMb : 0
  if (usedPercent >= MEMORY_TOLD_PERCENT) metrics.addMetric('memory.used', MetricUnit.Percent, usedPercent)
}

/** Validates the input at the task's door: unknown or ill-formed fields never reach the work. */
const parseInput = <Input extends z.ZodType>(schema: Input, event: unknown): z.output<Input> => {
  const result = schema.safeParse(event)
  if (result.success) return result.data
  throw new Failure('InvalidInput', `The input is not what this task takes:\n${z.prettifyError(result.error)}`)
}

/**
 * Makes a Lambda handler of a task: input checked, waits bounded, logs and metrics named.
 *
 * It answers when the work has ended and not before. An answer ahead of time would free the sandbox for the next
 * invocation while the work goes on. Waits end a little before Lambda's own timeout, so that a failure has a name; work
 * that does not wait is ended by Lambda, together with its process. At the end the invocation gives up what it owns.
 */
export const task = <Input extends z.ZodType, Output>(
  name: FunctionName,
  schema: Input,
  work: (input: z.output<Input>, context: TaskContext) => Promise<Output>,
) => {
  const sandbox = new Sandbox(name, process.env)
  return async (event: unknown, context: Context): Promise<Output> => {
    const { services, end } = sandbox.begin(context.getRemainingTimeInMillis())
    try {
      identify(services, event, context)
      const remainingMs = () => context.getRemainingTimeInMillis()
      return await work(parseInput(schema, event), { ...services, remainingMs })
    } catch (error) {
      report(services, error)
      throw safeThrow(error)
    } finally {
      end()
      reportMemory(services)
      if (services.metrics.hasStoredMetrics()) services.metrics.publishStoredMetrics()
    }
  }
}
