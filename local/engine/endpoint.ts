import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { type Endpoint, startHttpServer } from '../host/http-server.ts'
import { OPERATIONS } from './api.ts'
import type { Engine } from './engine.ts'
import { ServiceError } from './service-error.ts'

const TARGET_PREFIX = 'AWSStepFunctions.'
const CONTENT_TYPE = 'application/x-amz-json-1.0'

const answer = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': CONTENT_TYPE, 'x-amzn-requestid': crypto.randomUUID() })
  response.end(JSON.stringify(body))
}

const serve = async (engine: Engine, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = await buffer(request)
  const target = String(request.headers['x-amz-target'] ?? '')
  try {
    const operation = target.startsWith(TARGET_PREFIX) ? OPERATIONS[target.slice(TARGET_PREFIX.length)] : undefined
    if (operation === undefined) throw new ServiceError('UnknownOperationException', `Not emulated: '${target}'`)
    answer(response, 200, operation(engine, JSON.parse(body.toString() || '{}')) as object)
  } catch (error) {
    const known = error instanceof ServiceError
    const name = known ? error.name : 'InternalFailure'
    // A client retries a 500: right for a fault of ours, wrong for a request that will never do.
    answer(response, known ? 400 : 500, {
      __type: `com.amazonaws.states#${name}`,
      message: error instanceof Error ? error.message : String(error),
    })
  }
}

/** Serves the engine as Step Functions (AWS JSON 1.0) on a free loopback port, or the given one. */
export const startEndpoint = (engine: Engine, port?: number): Promise<Endpoint> =>
  startHttpServer((request, response) => serve(engine, request, response), port)
