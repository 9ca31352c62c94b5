import type { Outcome } from '../lambda/function.ts'
import { SANDBOX_ERRORS } from '../lambda/function.ts'
import { ServiceError, TaskError } from './service-error.ts'

/** What the engine's tasks call. */
export type TaskServices = {
  readonly invoke: (functionName: string, event: string) => Promise<Outcome>
  readonly startExecution: (machineArn: string, input: string, name?: string) => Started
  readonly publish: (topicArn: string, message: string) => Promise<string>
}

/** An execution as the one who started it sees it. */
type Started = {
  readonly arn: string
  readonly name: string
  readonly input: string
  readonly startDate: number
  readonly ended: Promise<void>
  readonly status: string
  readonly output: string | undefined
  readonly error: string | undefined
  readonly cause: string | undefined
  readonly stop: () => void
}

/** Runs one attempt of a task; `input` is what the state's Parameters made, `over` the end of the execution around it. */
export type TaskRunner = (input: unknown, services: TaskServices, over: Promise<void>) => Promise<unknown>

const LAMBDA_ARN = /^arn:aws:lambda:[\w-]+:\d{12}:function:([\w-]+)(?::[\w$-]+)?$/

const lambdaName = (arnOrName: string): string => LAMBDA_ARN.exec(arnOrName)?.[1] ?? arnOrName

/** Lambda's answer as Step Functions reports it: the error's type is the name, its JSON text the cause. */
const callLambda = async (services: TaskServices, functionName: string, event: unknown): Promise<unknown> => {
  const outcome = await services.invoke(functionName, JSON.stringify(event) ?? 'null')
  if ('payload' in outcome) return JSON.parse(outcome.payload) as unknown
  const cause = JSON.stringify(outcome.error)
  if (!SANDBOX_ERRORS.includes(outcome.error.errorType)) throw new TaskError(outcome.error.errorType, cause)
  throw new TaskError(
    'Lambda.Unknown',
    'The cause could not be determined because Lambda did not return an error type. Returned payload: ' +
      JSON.stringify({ errorMessage: outcome.error.errorMessage }),
  )
}

type Parameters = Readonly<Record<string, unknown>>
const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const startExecution = (input: unknown, services: TaskServices): Started => {
  const { StateMachineArn, Input, Name } = input as Parameters
  try {
    return services.startExecution(
      String(StateMachineArn),
      asText(Input ?? {}),
      Name === undefined ? undefined : String(Name),
    )
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const name = error.name.endsWith('Exception') ? error.name : `${error.name}Exception`
    throw new TaskError(`StepFunctions.${name}`, error.message)
  }
}

const INTEGRATIONS: Readonly<Record<string, TaskRunner>> = {
  'arn:aws:states:::lambda:invoke': async (input, services) => {
    const { FunctionName, Payload } = input as Parameters
    const payload = await callLambda(services, lambdaName(String(FunctionName)), Payload ?? {})
    return { ExecutedVersion: '1', StatusCode: 200, Payload: payload }
  },
  'arn:aws:states:::states:startExecution': async (input, services) => {
    const started = startExecution(input, services)
    return { ExecutionArn: started.arn, StartDate: started.startDate / 1_000 }
  },
  // As in AWS, an execution that ends takes those it waits for with it.
  'arn:aws:states:::states:startExecution.sync:2': async (input, services, over) => {
    const started = startExecution(input, services)
    await Promise.race([started.ended, over])
    if (started.status === 'RUNNING') started.stop()
    const { arn, name, status, output, error, cause } = started
    const described = { ExecutionArn: arn, Name: name, Status: status, Error: error, Cause: cause }
    if (status !== 'SUCCEEDED') throw new TaskError('States.TaskFailed', JSON.stringify(described))
    return { ...described, Input: JSON.parse(started.input), Output: JSON.parse(output ?? 'null') }
  },
  'arn:aws:states:::sns:publish': async (input, services) => {
    const { TopicArn, Message } = input as Parameters
    return { MessageId: await services.publish(String(TopicArn), asText(Message)) }
  },
}

/** How a task's resource is run, or undefined where this engine cannot. */
export const taskRunner = (resource: string): TaskRunner | undefined => {
  const functionName = LAMBDA_ARN.exec(resource)?.[1]
  if (functionName !== undefined) return (input, services) => callLambda(services, functionName, input)
  return INTEGRATIONS[resource]
}

/** The prefix of a task's history events: Lambda called directly has its own. */
export const eventPrefix = (resource: string): 'LambdaFunction' | 'Task' =>
  LAMBDA_ARN.test(resource) ? 'LambdaFunction' : 'Task'
