import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { type Endpoint, startHttpServer } from '../host/http-server.ts'
import type { Lambda } from './lambda.ts'

const INVOKE = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/

/** What the service itself answers instead of the function, by its HTTP status. */
const SERVICE_ERRORS: Readonly<Record<string, number>> = {
  'Lambda.TooManyRequestsException': 429,
  'Lambda.ServiceException': 500,
}

const answer = (response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void => {
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-amzn-requestid': crypto.randomUUID(),
    ...headers,
  })
  response.end(body)
}

const refuse = (response: ServerResponse, status: number, name: string, message: string): void =>
  answer(response, status, JSON.stringify({ Type: status < 500 ? 'User' : 'Service', Message: message, message }), {
    'x-amzn-errortype': name,
  })

/** The plain name of `name`, `name:qualifier` or an ARN of a function. */
const nameIn = (path: string): string => {
  const parts = decodeURIComponent(path).split(':')
  return parts[parts.indexOf('function') + 1] ?? ''
}

const serve = async (lambda: Lambda, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const event = (await buffer(request)).toString() || '{}'
  const path = INVOKE.exec(new URL(request.url ?? '', 'http://localhost').pathname)?.[1]
  if (request.method !== 'POST' || path === undefined)
    return refuse(response, 404, 'UnknownOperationException', `Not emulated: ${request.method} ${request.url}`)
  const name = nameIn(path)
  if (!lambda.functionNames.includes(name))
    return refuse(response, 404, 'ResourceNotFoundException', `Function not found: ${name}`)
  if (request.headers['x-amz-invocation-type'] === 'Event') {
    lambda.invokeAsync(name, event)
    return answer(response, 202, '')
  }
  const outcome = await lambda.invoke(name, event)
  if ('payload' in outcome) return answer(response, 200, outcome.payload, { 'x-amz-executed-version': '$LATEST' })
  const { errorType, errorMessage } = outcome.error
  const status = SERVICE_ERRORS[errorType]
  if (status !== undefined) return refuse(response, status, errorType.replace('Lambda.', ''), errorMessage)
  // As in AWS: the call went well, and its answer is the function's error.
  answer(response, 200, JSON.stringify(outcome.error), {
    'x-amz-function-error': 'Unhandled',
    'x-amz-executed-version': '$LATEST',
  })
}

/** Serves the functions as Lambda's Invoke on a free loopback port, or the given one. */
export const startLambdaEndpoint = (lambda: Lambda, port?: number): Promise<Endpoint> =>
  startHttpServer((request, response) => serve(lambda, request, response), port)
