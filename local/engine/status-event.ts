import { randomUUID } from 'node:crypto'
import type { ExecutionStatus } from './end.ts'
import type { Execution } from './execution.ts'

/** What EventBridge delivers when an execution ends. */
export type StatusEvent = {
  readonly version: '0'
  readonly id: string
  readonly 'detail-type': 'Step Functions Execution Status Change'
  readonly source: 'aws.states'
  readonly account: string
  readonly time: string
  readonly region: string
  readonly resources: readonly string[]
  readonly detail: {
    readonly executionArn: string
    readonly stateMachineArn: string
    readonly name: string
    readonly status: ExecutionStatus
    readonly startDate: number
    readonly stopDate: number | null
    readonly input: string
    readonly redriveCount: number
    readonly redriveDate: number | null
    readonly output: string | null
    readonly error: string | null
    readonly cause: string | null
  }
}

export const statusEvent = (execution: Execution): StatusEvent => {
  const [, , , region = '', account = ''] = execution.arn.split(':')
  return {
    version: '0',
    id: randomUUID(),
    'detail-type': 'Step Functions Execution Status Change',
    source: 'aws.states',
    account,
    // EventBridge gives whole seconds.
    time: new Date().toISOString().replace(/\.\d+/, ''),
    region,
    resources: [execution.arn],
    detail: {
      executionArn: execution.arn,
      stateMachineArn: execution.machine.arn,
      name: execution.name,
      status: execution.status,
      startDate: execution.startDate,
      stopDate: execution.stopDate ?? null,
      input: execution.input,
      // There is no redrive here.
      redriveCount: 0,
      redriveDate: null,
      output: execution.output ?? null,
      error: execution.error ?? null,
      cause: execution.cause ?? null,
    },
  }
}
