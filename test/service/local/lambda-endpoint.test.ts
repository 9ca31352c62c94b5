import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Endpoint } from '../../../local/host/http-server.ts'
import { startLambdaEndpoint } from '../../../local/lambda/endpoint.ts'
import { Lambda } from '../../../local/lambda/lambda.ts'
import { OBEDIENT, writeFunction } from './app.ts'

let lambda: Lambda
let endpoint: Endpoint
let client: LambdaClient

beforeEach(async () => {
  const logsFolder = mkdtempSync(join(tmpdir(), 'sharelock-logs-'))
  lambda = new Lambda({ logsFolder, region: 'ap-northeast-2', concurrency: 1 })
  lambda.add(writeFunction('Obedient', OBEDIENT))
  endpoint = await startLambdaEndpoint(lambda)
  const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
  client = new LambdaClient({ region: 'ap-northeast-2', endpoint: endpoint.url, credentials, maxAttempts: 1 })
})
afterEach(async () => {
  client.destroy()
  await endpoint.close()
  await lambda.end()
})

const invoke = async (
  event: object,
  FunctionName = 'Obedient',
  InvocationType: 'RequestResponse' | 'Event' = 'RequestResponse',
) => {
  const answer = await client.send(new InvokeCommand({ FunctionName, InvocationType, Payload: JSON.stringify(event) }))
  return { ...answer, Payload: answer.Payload?.transformToString() ?? '' }
}

test.each(['Obedient', 'Obedient:live', 'arn:aws:lambda:ap-northeast-2:000000000000:function:Obedient'])(
  'the SDK calls a function as %s and gets its answer',
  async (name) => {
    const { StatusCode, FunctionError, Payload } = await invoke({ a: 1 }, name)
    expect({ StatusCode, FunctionError }).toEqual({ StatusCode: 200, FunctionError: undefined })
    expect(JSON.parse(Payload)).toMatchObject({ event: { a: 1 }, functionName: 'Obedient' })
  },
)

test("what a function throws is an answer, marked as a function's error", async () => {
  const { StatusCode, FunctionError, Payload } = await invoke({ error: 'LockChanged' })
  expect({ StatusCode, FunctionError }).toEqual({ StatusCode: 200, FunctionError: 'Unhandled' })
  expect(JSON.parse(Payload)).toMatchObject({ errorType: 'LockChanged', errorMessage: 'on demand' })
})

test('a sandbox that dies is a function error too', async () => {
  expect(await invoke({ exit: 1 })).toMatchObject({
    FunctionError: 'Unhandled',
    Payload: expect.stringContaining('Runtime.ExitError'),
  })
})

test('a function that does not exist is refused by name', async () => {
  await expect(invoke({}, 'Nobody')).rejects.toMatchObject({
    name: 'ResourceNotFoundException',
    message: 'Function not found: Nobody',
  })
})

test('more calls at once than sandboxes are throttled, as a client expects it', async () => {
  const busy = invoke({ sleepMs: 500 })
  await expect.poll(() => lambda.sandboxes.length).toBe(1)
  await expect(invoke({})).rejects.toMatchObject({ name: 'TooManyRequestsException' })
  expect(await busy).toMatchObject({ StatusCode: 200 })
})

test('a call as an event is accepted at once and served behind the answer', async () => {
  const served: unknown[] = []
  lambda.onInvoke(({ event }) => void served.push(event))
  expect(await invoke({ b: 2 }, 'Obedient', 'Event')).toMatchObject({ StatusCode: 202, Payload: '' })
  await lambda.settled()
  expect(served).toEqual([{ b: 2 }])
})
