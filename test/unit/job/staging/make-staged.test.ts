import { createHash } from 'node:crypto'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { type FauxqsServer, startFauxqs } from 'fauxqs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Failure } from '../../../../functions/contract/failures.ts'
import { chunkKey, Manifest, manifestKey } from '../../../../functions/contract/manifest.ts'
import { makeStaged } from '../../../../functions/job/staging/make-staged.ts'
import { readChunk, readManifest } from '../../../../functions/store/s3/staged.ts'
import { openSource } from '../../../../functions/store/s3/uploaded.ts'
import { writeStaged } from '../../../../functions/store/s3/write-staged.ts'
import { AT_MOST, EXACT, HEADER } from '../../../support/staging.ts'

const BUCKET = 'sharelock-stage'
const SLICE = { distributorId: 1, distributor: 'ARIA', month: '2026-10' }
const GOOD = `${HEADER}KRA012600002,P,A,100\nKRA012600001,P,B,50\nKRA012600001,P,A,50\n`
const STAGED = 'KRA012600001\tP\tA\t50.000000\nKRA012600001\tP\tB\t50.000000\nKRA012600002\tP\tA\t100.000000\n'

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const clientOf = (port: number, maxAttempts = 1): S3Client =>
  new S3Client({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'ap-northeast-2',
    forcePathStyle: true,
    maxAttempts,
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
  })

let server: FauxqsServer
let s3: S3Client

beforeAll(async () => {
  server = await startFauxqs({ port: 0, logger: false })
  server.createBucket(BUCKET)
  s3 = clientOf(server.port)
})
afterAll(async () => {
  s3.destroy()
  await server.stop()
})

const put = (key: string, body: string | Buffer): Promise<unknown> =>
  s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: key, Body: body }))
const get = async (key: string): Promise<string> => {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: key }))
  return (await Body?.transformToString()) ?? ''
}
const keys = async (prefix: string): Promise<(string | undefined)[]> =>
  ((await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: prefix }))).Contents ?? []).map(({ Key }) => Key)

const failureOf = async (work: Promise<unknown>): Promise<Failure> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof Failure) return error
  throw new Error('no failure', { cause: error })
}

const context = (execution: string, rules = AT_MOST) => ({ s3, bucket: BUCKET, slice: SLICE, rules, execution })

describe('makeStaged', () => {
  test('writes the chunks and the manifest of a good file and says what they hold', async () => {
    await put('incoming/good.csv', GOOD)
    const staged = await makeStaged({ key: 'incoming/good.csv' }, context('first', EXACT))
    expect(staged).toEqual({ digest: staged.digest, rows: 3, shareSum: '200.000000', chunks: 1 })
    expect(await get(`staged/${staged.digest}/000000.tsv`)).toBe(STAGED)
    const manifest = Manifest.parse(JSON.parse(await get(`staged/${staged.digest}/manifest.json`)))
    expect(manifest).toMatchObject({ digest: staged.digest, tracks: 2, parties: 2 })
    expect(manifest.chunks[0]).toMatchObject({
      digest: sha256(STAGED),
      firstIsrc: 'KRA012600001',
      bytes: STAGED.length,
    })
    expect(await readManifest(s3, BUCKET, staged.digest)).toEqual(manifest)
    expect(await makeStaged({ staged: staged.digest }, context('undo'))).toEqual(staged)
  })

  test('writes nothing where the same content is staged already, and only what is missing where it has a hole', async () => {
    await put('incoming/once.csv', `${HEADER}KRA012600009,P,A,1\n`)
    const { digest } = await makeStaged({ key: 'incoming/once.csv' }, context('one'))
    await put('incoming/again.csv', `share,isrc,party_id,right_type\r\n1.0,KR-A01-26-00009,A,p\r\n`)
    const written = async (): Promise<string[]> => {
      const send = vi.spyOn(s3, 'send')
      expect((await makeStaged({ key: 'incoming/again.csv' }, context('two'))).digest).toBe(digest)
      const puts = send.mock.calls.map(([command]) => command).filter((command) => command instanceof PutObjectCommand)
      send.mockRestore()
      return puts.map(({ input }) => input.Key ?? '')
    }
    expect(await written()).toEqual([])
    await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: chunkKey(digest, 0) }))
    expect(await written()).toEqual([chunkKey(digest, 0)])
    expect(await get(chunkKey(digest, 0))).toBe('KRA012600009\tP\tA\t1.000000\n')
    await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: manifestKey(digest) }))
    expect(await written()).toEqual([manifestKey(digest)])
  })

  test('refuses a bad file with a report, and stages nothing', async () => {
    const before = await keys('staged/')
    const bad = Array.from({ length: 150 }, (_, n) => `KRA012600001,P,A${n},33.3%\n`).join('')
    await put('incoming/bad.csv', HEADER + bad)
    const execution = 'arn:aws:states:ap-northeast-2:000000000000:execution:sharelock:ARIA-2026-10-1'
    const failure = await failureOf(makeStaged({ key: 'incoming/bad.csv' }, context(execution)))
    expect(failure.name).toBe('SourceRejected')
    expect(failure.message).toBe(
      'ARIA 2026-10: the file incoming/bad.csv has 150 errors and nothing was changed: ' +
        [2, 3, 4]
          .map((line) => `line ${line}, column 4: share "33.3%" has a percent sign; write the number alone, e.g. 33.3`)
          .join('; ') +
        `; and 147 more. The report is s3://${BUCKET}/rejected/ARIA/2026-10/ARIA-2026-10-1.json`,
    )
    const report = JSON.parse(await get('rejected/ARIA/2026-10/ARIA-2026-10-1.json'))
    expect(report).toMatchObject({
      version: 1,
      distributor: 'ARIA',
      month: '2026-10',
      key: 'incoming/bad.csv',
      execution,
      encoding: 'ascii',
      compressed: false,
      records: 150,
      total: 150,
    })
    expect(report.errors).toHaveLength(100)
    expect(await keys('staged/')).toEqual(before)
  })

  test('repeated by the same execution writes the same report', async () => {
    await put('incoming/empty.csv', Buffer.alloc(0))
    for (let run = 0; run < 2; run++) {
      const failure = await failureOf(makeStaged({ key: 'incoming/empty.csv' }, context('empty-run')))
      expect(failure.message).toContain('has 1 error and nothing was changed: the file has no row of shares.')
    }
    expect(await keys('rejected/ARIA/2026-10/empty-run')).toEqual(['rejected/ARIA/2026-10/empty-run.json'])
  })

  test('of a file that is not there says so', async () => {
    const failure = await failureOf(makeStaged({ key: 'incoming/none.csv' }, context('none')))
    expect(failure.name).toBe('SourceMissing')
    expect(failure.message).toContain('incoming/none.csv')
  })

  test('of a staged source that is not there says so', async () => {
    const failure = await failureOf(makeStaged({ staged: 'a'.repeat(64) }, context('none')))
    expect(failure.name).toBe('StagedSourceDamaged')
  })

  test('tells how far it has read', async () => {
    await put('incoming/progress.csv', GOOD)
    const seen: number[] = []
    await makeStaged(
      { key: 'incoming/progress.csv' },
      { ...context('progress'), onProgress: (records) => seen.push(records) },
    )
    expect(seen.length).toBeGreaterThan(0)
  })

  test('names its report after the execution, in characters of a key and shortened', async () => {
    await put('incoming/bad/3.csv', `${HEADER}${[1, 2, 3].map((n) => `KRA012600001,P,A${n},x\n`).join('')}`)
    const report = async (execution: string): Promise<string | undefined> => {
      const { message } = await failureOf(makeStaged({ key: 'incoming/bad/3.csv' }, context(execution)))
      expect(message).toContain('has 3 errors')
      expect(message).not.toContain('more')
      return /rejected\/ARIA\/2026-10\/(.*)\.json$/.exec(message)?.[1]
    }
    expect(await report(`arn:aws:states:x:0:execution:job:${'n'.repeat(200)}`)).toBe('n'.repeat(80))
    expect(await report('arn:aws:states:x:0:execution:job:a b/c')).toBe('a_b_c')
  })

  test('of a bucket that is not there is no missing file', async () => {
    const lost = makeStaged({ key: 'incoming/good.csv' }, { ...context('lost'), bucket: 'no-such-bucket' })
    await expect(lost).rejects.not.toMatchObject({ name: 'SourceMissing' })
  })

  test('is not changed by an upload under the same key while it reads', async () => {
    const rows = Array.from({ length: 100_000 }, (_, n) => `KRA01${2_600_000 + n},P,A,1\n`).join('')
    await put('incoming/swapped.csv', HEADER + rows)
    const { bytes } = await openSource(s3, BUCKET, 'incoming/swapped.csv')
    const parts: Buffer[] = []
    for await (const part of bytes) {
      if (parts.length === 0) await put('incoming/swapped.csv', GOOD)
      parts.push(part)
    }
    expect(sha256(Buffer.concat(parts))).toBe(sha256(HEADER + rows))
  })
})

describe('a staged source', () => {
  const body = (number: number): Buffer => Buffer.from(`KRA01260000${number}\tP\tA\t1.000000\n`)
  const manifestFor = (digest: string, chunks: number): Manifest => ({
    version: 1,
    digest,
    rows: chunks,
    shareSum: `${chunks}.000000`,
    tracks: chunks,
    parties: 1,
    chunks: Array.from({ length: chunks }, (_, number) => ({
      number,
      rows: 1,
      bytes: body(number).length,
      digest: sha256(body(number)),
      firstIsrc: `KRA01260000${number}`,
      lastIsrc: `KRA01260000${number}`,
    })),
  })

  test('is read chunk by chunk, each checked against its digest', async () => {
    const manifest = manifestFor('b'.repeat(64), 9)
    await writeStaged(s3, BUCKET, manifest, body)
    for (const chunk of manifest.chunks)
      expect(await readChunk(s3, BUCKET, manifest.digest, chunk)).toEqual(body(chunk.number))
    await put(chunkKey(manifest.digest, 4), body(5))
    const changed = await failureOf(readChunk(s3, BUCKET, manifest.digest, { number: 4, digest: sha256(body(4)) }))
    expect(changed.name).toBe('StagedSourceDamaged')
    const missing = await failureOf(readChunk(s3, BUCKET, manifest.digest, { number: 9, digest: sha256(body(9)) }))
    expect(missing.name).toBe('StagedSourceDamaged')
  })

  test.each([
    ['is no JSON', 'c', (text: string) => text.slice(1)],
    ['has a field too many', 'd', (text: string) => text.replace('{', '{"more":1,')],
    ['promises other rows than its chunks', 'e', (text: string) => text.replace('"rows":2', '"rows":3')],
    ['numbers its chunks in another way', '7', (text: string) => text.replace('"number":1', '"number":2')],
    ['is another one', 'f', (text: string) => text.replace('ffff', '0000')],
  ])('whose manifest %s is damaged, and staging it again fixes it', async (_, letter, damage) => {
    const manifest = manifestFor(letter.repeat(64), 2)
    await put(manifestKey(manifest.digest), damage(JSON.stringify(manifest)))
    expect((await failureOf(readManifest(s3, BUCKET, manifest.digest))).name).toBe('StagedSourceDamaged')
    await writeStaged(s3, BUCKET, manifest, body)
    expect(await readManifest(s3, BUCKET, manifest.digest)).toEqual(manifest)
  })

  test('is asked for its manifest each time, so that one which is gone is noticed at once', async () => {
    const manifest = manifestFor('8'.repeat(64), 1)
    await writeStaged(s3, BUCKET, manifest, body)
    expect(await readManifest(s3, BUCKET, manifest.digest)).toEqual(manifest)
    await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: manifestKey(manifest.digest) }))
    expect((await failureOf(readManifest(s3, BUCKET, manifest.digest))).name).toBe('StagedSourceDamaged')
  })

  test('makes a chunk only when it is written, a few at a time, and the manifest last', async () => {
    const manifest = manifestFor('1'.repeat(64), 9)
    const asked: number[] = []
    await writeStaged(s3, BUCKET, manifest, (number) => {
      asked.push(number)
      return body(number)
    })
    expect(asked).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    expect(await keys(`staged/${manifest.digest}/`)).toHaveLength(10)
  })

  test('has no manifest if one chunk could not be made', async () => {
    const manifest = manifestFor('2'.repeat(64), 9)
    const failing = writeStaged(s3, BUCKET, manifest, (number) => {
      if (number === 3) throw new Error('no memory')
      return body(number)
    })
    await expect(failing).rejects.toThrow('no memory')
    expect(await keys(manifestKey(manifest.digest))).toEqual([])
  })
})

describe('a storage outage', () => {
  const withServer = async (answer: (response: ServerResponse) => void, work: (client: S3Client) => Promise<void>) => {
    const http: Server = createServer((request, response) => {
      request.resume()
      answer(response)
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const client = clientOf((http.address() as AddressInfo).port)
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
    const client = clientOf(1)
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
      const client = Object.assign(clientOf(1), { send: () => Promise.resolve({ Body, ContentLength: 1_000 }) })
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
    const client = Object.assign(clientOf(1), { send: () => Promise.reject(error) })
    const thrown = await openSource(client, BUCKET, 'incoming/file.csv').catch((each: unknown) => each)
    if (isOutage) expect(thrown).toMatchObject({ name: 'StorageUnreachable', cause: error })
    else expect(thrown).toBe(error)
  })

  test('is an answer without a body or its length', async () => {
    for (const answer of [{ ContentLength: 1 }, { Body: {} }]) {
      const client = Object.assign(clientOf(1), { send: () => Promise.resolve(answer) })
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
