import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { S3Client } from '@aws-sdk/client-s3'
import { afterEach, expect, test } from 'vitest'
import { Invocation } from '../../../../functions/store/invocation/invocation.ts'
import { lendClient } from '../../../../functions/store/invocation/lent-client.ts'
import { listSizes, openObject, readObject } from '../../../../functions/store/s3/objects.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A client of a server that answers like this, as an invocation has it. @returns it, and how often it was asked */
const lent = async (answer: (response: ServerResponse) => void, invocation: Invocation, limitMs: number) => {
  const asked = { times: 0, aborted: 0 }
  const server = createServer((request, response) => {
    asked.times += 1
    request.socket.once('close', () => {
      asked.aborted += 1
    })
    answer(response)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = new S3Client({
    region: 'ap-northeast-2',
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    forcePathStyle: true,
    // Left to itself it would ask for minutes.
    maxAttempts: 100,
    requestHandler: { requestTimeout: 300, throwOnRequestTimeout: true },
  })
  return { s3: lendClient(client, 'S3', invocation, limitMs), asked }
}

const silent = (): void => undefined

/** A byte now and then, of a body that never ends. */
const trickling = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-length': '1000000' })
  const timer = setInterval(() => response.write('x'), 20)
  response.once('close', () => clearInterval(timer))
}

test("a silent S3 is given up within the call's limit, the SDK's own attempts included, and the last is aborted", async () => {
  const { s3, asked } = await lent(silent, new Invocation(), 3_000)
  await expect(listSizes(s3, 'bucket', 'incoming/')).rejects.toMatchObject({
    name: 'StorageUnreachable',
    message: expect.stringContaining('S3 did not answer within 3 s'),
  })
  await expect.poll(() => asked.aborted).toBe(asked.times)
  expect(asked.times).toBeGreaterThan(1)
})

test('a silent S3 ends with the time of the task, by that name', async () => {
  const { s3, asked } = await lent(silent, new Invocation(200), 25_000)
  await expect(readObject(s3, 'bucket', 'key')).rejects.toMatchObject({ name: 'OutOfTime' })
  await expect.poll(() => asked.aborted).toBe(1)
})

test('a body that trickles for ever ends with the time of the task, and with its invocation', async () => {
  const late = await lent(trickling, new Invocation(400), 25_000)
  await expect(readObject(late.s3, 'bucket', 'key')).rejects.toMatchObject({ name: 'OutOfTime' })
  await expect.poll(() => late.asked.aborted).toBe(1)

  const invocation = new Invocation()
  const over = await lent(trickling, invocation, 25_000)
  const reading = readObject(over.s3, 'bucket', 'key').catch((error: unknown) => error)
  await expect.poll(() => over.asked.times).toBe(1)
  setTimeout(() => invocation.end(), 100)
  expect(await reading).toMatchObject({ name: 'InvocationOver' })
  await expect.poll(() => over.asked.aborted).toBe(1)
})

test('a body that nobody reads is broken off without a word', async () => {
  const invocation = new Invocation()
  const { s3, asked } = await lent(trickling, invocation, 25_000)
  await openObject(s3, 'bucket', 'key')
  invocation.end()
  await expect.poll(() => asked.aborted).toBe(1)
})

test('an invocation that is over asks nothing', async () => {
  const invocation = new Invocation()
  const { s3, asked } = await lent(silent, invocation, 25_000)
  invocation.end()
  await expect(readObject(s3, 'bucket', 'key')).rejects.toMatchObject({ name: 'InvocationOver' })
  expect(asked.times).toBe(0)
})
