import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { describe, expect, test, vi } from 'vitest'
import { Failure } from '../../../../functions/contract/failures.ts'
import { CANONICAL } from '../../../../functions/contract/profile.ts'
import { makeStaged } from '../../../../functions/job/staging/make-staged.ts'
import { readManifest } from '../../../../functions/store/s3/staged.ts'
import { openSource } from '../../../../functions/store/s3/uploaded.ts'
import { failureOf, s3ClientOf, useBucket } from '../../../support/bucket.ts'
import { AT_MOST, HEADER, NO_CONFIRMATION } from '../../../support/staging.ts'

const BUCKET = 'sharelock-stage'
const SLICE = { distributorId: 1, distributor: 'ARIA', month: '2026-10' }
const GOOD = `${HEADER}KRA012600002,P,A,100\nKRA012600001,P,B,50\nKRA012600001,P,A,50\n`

const { s3 } = useBucket(BUCKET)
const context = (execution: string, rules = AT_MOST) => ({
  ...{ s3: s3(), bucket: BUCKET, slice: SLICE, rules, policy: NO_CONFIRMATION, execution },
  profile: { version: 0, profile: CANONICAL },
})

describe('a storage outage', () => {
  const withServer = async (answer: (response: ServerResponse) => void, work: (client: S3Client) => Promise<void>) => {
    const http: Server = createServer((request, response) => {
      request.resume()
      answer(response)
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const client = s3ClientOf((http.address() as AddressInfo).port)
    try {
      await work(client)
    } finally {
      client.destroy()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    }
  }

  const read = async (client: S3Client): Promise<void> => {
    const { bytes } = await openSource(client, BUCKET, 'incoming/file.csv')
    for await (const _ of bytes);
  }

  test.each<[string, (response: ServerResponse) => void]>([
    ['503', (response) => response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')],
    ['500', (response) => response.writeHead(500).end()],
    ['429', (response) => response.writeHead(429).end()],
    ['a connection that is cut', (response) => response.destroy()],
    [
      'a body that ends too early',
      (response) => {
        response.writeHead(200, { 'content-length': 1_000, etag: '"x"' })
        response.write('isrc,right_type', () => response.destroy())
      },
    ],
  ])('shows as StorageUnreachable after %s', async (_, answer) => {
    await withServer(answer, async (client) => {
      expect((await failureOf(read(client))).name).toBe('StorageUnreachable')
      expect((await failureOf(readManifest(client, BUCKET, '9'.repeat(64)))).name).toBe('StorageUnreachable')
    })
  })

  test('shows as StorageUnreachable where nothing listens', async () => {
    const client = s3ClientOf(1)
    expect((await failureOf(read(client))).name).toBe('StorageUnreachable')
    client.destroy()
  })

  test('never passes half a file off as a whole one', async () => {
    const half = (response: ServerResponse): void => {
      response.writeHead(200, { 'content-length': GOOD.length })
      response.write(GOOD.slice(0, HEADER.length + 'KRA012600002,P,A,100\n'.length), () => response.destroy())
    }
    await withServer(half, async (client) => {
      const failure = await failureOf(makeStaged({ key: 'incoming/file.csv' }, { ...context('half'), s3: client }))
      expect(failure.name).toBe('StorageUnreachable')
    })
  })

  test('shows as StorageUnreachable where a body falls silent', async () => {
    const silent = (response: ServerResponse): void => {
      response.writeHead(200, { 'content-length': 1_000 })
      response.write('isrc,right_type')
    }
    await withServer(silent, async (client) => {
      const { bytes } = await openSource(client, BUCKET, 'incoming/file.csv')
      const iterator = bytes[Symbol.asyncIterator]()
      expect((await iterator.next()).value?.toString()).toBe('isrc,right_type')
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      try {
        const failure = failureOf(iterator.next())
        await vi.advanceTimersByTimeAsync(30_000)
        expect((await failure).message).toContain('silent for 30000 ms')
      } finally {
        vi.useRealTimers()
      }
    })
  })

  test('shows as StorageUnreachable where a small object trickles for longer than all of it may take', async () => {
    vi.useFakeTimers()
    try {
      const Body = new Readable({ read: () => undefined })
      const dripping = setInterval(() => Body.push('x'), 5_000)
      const client = Object.assign(s3ClientOf(1), { send: () => Promise.resolve({ Body, ContentLength: 1_000 }) })
      const failure = failureOf(readManifest(client, BUCKET, '8'.repeat(64)))
      await vi.advanceTimersByTimeAsync(31_000)
      expect(await failure).toMatchObject({ name: 'StorageUnreachable', message: /not whole within 30000 ms/ })
      clearInterval(dripping)
    } finally {
      vi.useRealTimers()
    }
  })

  test.each([
    [{ name: 'SlowDown', $metadata: { httpStatusCode: 400 } }, true],
    [{ name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } }, true],
    [{ name: 'RequestTimeout', $metadata: { httpStatusCode: 400 } }, true],
    [{ name: 'TimeoutError' }, true],
    [{ code: 'ECONNRESET' }, true],
    [{ code: 'ENOTFOUND', $metadata: {} }, true],
    [{ code: 'ECONNRESET', $metadata: { httpStatusCode: 200 } }, true],
    [{ name: 'AccessDenied', code: 'EACCES', $metadata: { httpStatusCode: 400 } }, false],
    [{ name: 'InvalidArgument' }, false],
    [{ code: 'XE' }, false],
    [{ code: 'E1' }, false],
  ])('%j is an outage: %s', async (fields, isOutage) => {
    const error = Object.assign(new Error('as S3 says it'), fields)
    const client = Object.assign(s3ClientOf(1), { send: () => Promise.reject(error) })
    const thrown = await openSource(client, BUCKET, 'incoming/file.csv').catch((each: unknown) => each)
    if (isOutage) expect(thrown).toMatchObject({ name: 'StorageUnreachable', cause: error })
    else expect(thrown).toBe(error)
  })

  test('is an answer without a body or its length', async () => {
    for (const answer of [{ ContentLength: 1 }, { Body: {} }]) {
      const client = Object.assign(s3ClientOf(1), { send: () => Promise.resolve(answer) })
      const failure = await failureOf(openSource(client, BUCKET, 'incoming/file.csv'))
      expect(failure.name).toBe('StorageUnreachable')
    }
  })

  test('is not what a refused permission is', async () => {
    const denied = (response: ServerResponse): void => {
      response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>no</Message></Error>')
    }
    await withServer(denied, async (client) => {
      await expect(openSource(client, BUCKET, 'incoming/file.csv')).rejects.toThrow(/no|denied/i)
      await expect(openSource(client, BUCKET, 'incoming/file.csv')).rejects.not.toBeInstanceOf(Failure)
    })
  })
})
