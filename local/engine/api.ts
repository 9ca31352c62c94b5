import { z } from 'zod'
import type { Engine } from './engine.ts'
import type { Execution } from './execution.ts'
import type { HistoryEvent } from './history.ts'
import { ServiceError } from './service-error.ts'

/**
 * The operations of the Step Functions API that this project's clients and the AWS console's habits need, from the body
 * of a request to that of its answer. Dates travel as seconds.
 */
const seconds = (ms: number): number => ms / 1_000

const PAGE_SIZE = 100
const PAGE_SIZE_MAX = 1_000
const paging = { maxResults: z.int().min(0).max(PAGE_SIZE_MAX).optional(), nextToken: z.string().optional() }

type Page<Item> = { items: Item[]; nextToken: string | undefined }

/** A token is the number of items before the page: histories only grow, and tokens live for a moment. */
const page = <Item>(items: Item[], maxResults: number | undefined, token: string | undefined): Page<Item> => {
  const from = token === undefined ? 0 : Number(token)
  if (!Number.isInteger(from) || from < 0) throw new ServiceError('InvalidToken', `Invalid Token: '${token}'`)
  const to = from + (maxResults || PAGE_SIZE)
  return { items: items.slice(from, to), nextToken: to < items.length ? String(to) : undefined }
}

const describe = (execution: Execution) => ({
  executionArn: execution.arn,
  stateMachineArn: execution.machine.arn,
  name: execution.name,
  status: execution.status,
  startDate: seconds(execution.startDate),
  stopDate: execution.stopDate === undefined ? undefined : seconds(execution.stopDate),
  redriveCount: 0,
})

const operation = <Shape extends z.ZodType, Answer>(
  shape: Shape,
  run: (engine: Engine, body: z.output<Shape>) => Answer,
) => {
  return (engine: Engine, body: unknown): Answer => {
    const parsed = shape.safeParse(body)
    if (!parsed.success) throw new ServiceError('ValidationException', z.prettifyError(parsed.error))
    return run(engine, parsed.data)
  }
}

const ByExecution = z.object({ executionArn: z.string() })

export const OPERATIONS: Readonly<Record<string, (engine: Engine, body: unknown) => unknown>> = {
  StartExecution: operation(
    z.object({ stateMachineArn: z.string(), name: z.string().optional(), input: z.string().default('{}') }),
    (engine, { stateMachineArn, name, input }) => {
      const execution = engine.start(stateMachineArn, input, name)
      return { executionArn: execution.arn, startDate: seconds(execution.startDate) }
    },
  ),

  DescribeExecution: operation(ByExecution, (engine, { executionArn }) => {
    const execution = engine.execution(executionArn)
    return {
      ...describe(execution),
      input: execution.input,
      inputDetails: { included: true },
      output: execution.output,
      outputDetails: execution.output === undefined ? undefined : { included: true },
      error: execution.error,
      cause: execution.cause,
      redriveStatus: 'NOT_REDRIVABLE',
      redriveStatusReason: 'The local engine does not redrive executions.',
    }
  }),

  ListExecutions: operation(
    z.object({ stateMachineArn: z.string(), statusFilter: z.string().optional(), ...paging }),
    (engine, { stateMachineArn, statusFilter, maxResults, nextToken }) => {
      engine.machine(stateMachineArn)
      const matching = engine
        .executions(stateMachineArn)
        .filter(({ status }) => statusFilter === undefined || status === statusFilter)
      const { items, nextToken: next } = page(matching, maxResults, nextToken)
      return { executions: items.map(describe), nextToken: next }
    },
  ),

  // Of an execution that is over it tells when it ended, and changes nothing.
  StopExecution: operation(
    z.object({ ...ByExecution.shape, error: z.string().optional(), cause: z.string().optional() }),
    (engine, { executionArn, error, cause }) => {
      const execution = engine.execution(executionArn)
      execution.stop(error, cause)
      return { stopDate: seconds(execution.stopDate ?? Date.now()) }
    },
  ),

  GetExecutionHistory: operation(
    z.object({
      ...ByExecution.shape,
      reverseOrder: z.boolean().default(false),
      includeExecutionData: z.boolean().default(true),
      ...paging,
    }),
    (engine, { executionArn, reverseOrder, maxResults, nextToken }) => {
      const { events } = engine.execution(executionArn).history
      const ordered: HistoryEvent[] = reverseOrder ? events.toReversed() : events
      const { items, nextToken: next } = page(ordered, maxResults, nextToken)
      return { events: items.map((event) => ({ ...event, timestamp: seconds(event.timestamp) })), nextToken: next }
    },
  ),

  DescribeStateMachine: operation(z.object({ stateMachineArn: z.string() }), (engine, { stateMachineArn }) => {
    const machine = engine.machine(stateMachineArn)
    return {
      stateMachineArn: machine.arn,
      name: machine.name,
      status: 'ACTIVE',
      definition: JSON.stringify(machine.definition),
      roleArn: 'arn:aws:iam::000000000000:role/local',
      type: 'STANDARD',
      creationDate: 0,
    }
  }),
}
