import type { Outcome } from '../lambda/function.ts'
import { SANDBOX_ERRORS } from '../lambda/function.ts'
import { ServiceError, TaskError } from './service-error.ts'

/** What the engine's tasks call. */
export type TaskServices = {
  readonly invoke: (functionName: string, event: string) => Promise<Outcome>
  readonly startExecution: (machineArn: string, input: string, name?: string) => { arn: string; startDate: number }
  readonly publish: (topicArn: string, message: string) => Promise<string>
}

/** Runs one attempt of a task; `input` is what the state's Parameters made. */
export type TaskRunner = (input: unknown, services: TaskServices) => Promise<unknown>

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

const INTEGRATIONS: Readonly<Record<string, TaskRunner>> = {
  'arn:aws:states:::lambda:invoke': async (input, services) => {
    const { FunctionName, Payload } = input as Parameters
    const payload = await callLambda(services, lambdaName(String(FunctionName)), Payload ?? {})
    return { ExecutedVersion: '1', StatusCode: 200, Payload: payload }
  },
  'arn:aws:states:::states:startExecution': async (input, services) => {
    const { StateMachineArn, Input, Name } = input as Parameters
    try {
      const name = Name === undefined ? undefined : String(Name)
      const started = services.startExecution(String(StateMachineArn), asText(Input ?? {}), name)
      return { ExecutionArn: started.arn, StartDate: started.startDate / 1_000 }
    } catch (error) {
      if (error instanceof ServiceError) {
        const name = error.name.endsWith('Exception') ? error.name : `${error.name}Exception`
        throw new TaskError(`StepFunctions.${name}`, error.message)
      }
      throw error
    }
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
