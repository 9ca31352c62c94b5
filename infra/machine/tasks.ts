import { Duration } from 'aws-cdk-lib'
import type { IFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { JsonPath, TaskInput, Timeout } from 'aws-cdk-lib/aws-stepfunctions'
import { LambdaInvoke } from 'aws-cdk-lib/aws-stepfunctions-tasks'
import type { Construct } from 'constructs'
import { TASK_MARGIN_S } from '../../functions/contract/limits.ts'
import { TASKS, type TaskName } from '../../functions/contract/tasks.ts'
import { ORDINARY, type RetryPolicy, toRetryProps } from './retries.ts'

export type TaskFunctions = Readonly<Record<TaskName, LambdaFunction>>

type Payload = Readonly<Record<string, unknown>>

const at = (path: string) => JsonPath.objectAt(path)

/** The fields of the execution's state that the tasks' inputs are made of; the shapes are in contract/messages.ts. */
export const FIELDS = {
  request: at('$.request'),
  execution: JsonPath.stringAt('$.execution'),
  slice: at('$.slice'),
  staged: at('$.staged'),
  lock: at('$.lock'),
  job: at('$.job'),
  onHeld: JsonPath.stringAt('$.request.onHeld'),
  onOutage: JsonPath.stringAt('$.request.onOutage'),
  head: at('$.opening.head'),
  failure: at('$.failure'),
} as const

const { slice, lock, onOutage, job } = FIELDS

/** What every task receives that may change a job: who it is, and what it may write. */
export const GUARDED = { slice, lock, onOutage, job } as const

export type TaskOptions = {
  /** The task's input; without one it receives the whole state. */
  readonly payload?: Payload
  /** Where the task's output goes; without one it replaces the state. */
  readonly resultPath?: string
  readonly outputPath?: string
  readonly retries?: readonly RetryPolicy[]
}

/**
 * A Lambda task under its function's name. It calls the function's current version, whose ARN is part of the
 * definition: an execution keeps its definition, so it finishes on the code it began with whatever is deployed
 * meanwhile. The task's clock is longer than Lambda's, so the engine does not start an attempt while the one before
 * still runs.
 */
export const lambdaTask = (
  scope: Construct,
  functions: TaskFunctions,
  name: TaskName,
  { payload, resultPath, outputPath, retries = ORDINARY }: TaskOptions = {},
): LambdaInvoke => {
  const task = LambdaInvoke.jsonPath(scope, name, {
    lambdaFunction: functions[name].currentVersion as IFunction,
    // Bare output instead of an envelope with status code and headers; CDK's own retries lack throttling.
    payloadResponseOnly: true,
    retryOnServiceExceptions: false,
    taskTimeout: Timeout.duration(Duration.seconds(TASKS[name].lambdaTimeoutS + TASK_MARGIN_S)),
    ...(payload === undefined ? {} : { payload: TaskInput.fromObject({ ...payload }) }),
    ...(resultPath === undefined ? {} : { resultPath }),
    ...(outputPath === undefined ? {} : { outputPath }),
  })
  for (const policy of retries) task.addRetry(toRetryProps(policy))
  return task
}
