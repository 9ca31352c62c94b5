import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { bundleHandlers } from '../../../infra/functions/bundles.ts'
import type { Outcome } from '../../../local/lambda/function.ts'
import { Lambda } from '../../../local/lambda/lambda.ts'
import { type AwsServer, startAws } from '../../../local/servers/aws.ts'
import { HttpRelay } from '../../support/http-relay.ts'
import { linesIn, markedIn, registering } from '../../support/registering.ts'
import { DatabaseRelay } from '../../support/relay.ts'
import { useTestDatabase } from '../../support/test-database.ts'

/*
 * The production bundles in a sandbox of the local Lambda that is not killed at its timeout, as one in AWS that is frozen:
 * what a task left behind would go on beside the next invocation.
 */
const db = useTestDatabase('sandbox')
const TASK = 'it'
let folder: string
let aws: AwsServer
let http: HttpRelay
let mysql: DatabaseRelay
let lambda: Lambda

/** A chunk loop begins nothing with less than 40 s left; the other task ends its waits 3 s before its end. */
const TIMEOUT_MS = { 'register-chunk': 55_000, 'begin-registering': 8_000 }

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sharelock-sandbox-'))
  aws = await startAws(folder, 'ap-northeast-2', { bucket: 'sandbox', topic: 'sandbox', queue: 'sandbox' })
  http = await HttpRelay.start()
  mysql = await DatabaseRelay.start()
  http.target = { host: '127.0.0.1', port: aws.port }
  mysql.target = { host: db.address.DATABASE_HOST, port: db.address.DATABASE_PORT }
  mysql.ownerOf = () => ({ pid: process.pid, task: TASK })
  const { DATABASE_NAME, DATABASE_USER, DATABASE_PASSWORD = '' } = db.address
  const valkey = inject('valkey')
  const environment = {
    ...{ STAGE: 'test', BUCKET: aws.bucket, AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${http.port}` },
    ...{ LOCK_HOST: valkey.host, LOCK_PORT: String(valkey.port), LOCK_AUTH: 'none', LOCK_TLS: 'off' },
    ...{ DATABASE_HOST: '127.0.0.1', DATABASE_PORT: String(mysql.port), DATABASE_NAME, DATABASE_USER },
    ...{ DATABASE_PASSWORD, DATABASE_AUTH: 'password', DATABASE_TLS: 'off' },
  }
  lambda = new Lambda({ logsFolder: join(folder, 'logs'), region: 'ap-northeast-2', killOnTimeout: false })
  for (const [name, codeFolder] of bundleHandlers(Object.keys(TIMEOUT_MS)))
    lambda.add({
      ...{ name, arn: `arn:aws:lambda:${name}`, codeFolder, handler: 'index.handler', memoryMb: 512, environment },
      timeoutMs: TIMEOUT_MS[name as keyof typeof TIMEOUT_MS],
    })
})
afterAll(async () => {
  await lambda.end()
  await Promise.all([http.stop(), mysql.stop(), aws.stop()])
  rmSync(folder, { recursive: true, force: true })
})

const job = (seed: number) => registering({ db, aws, valkey: inject('valkey') }, seed)
const invoke = (name: string, input: object): Promise<Outcome> => lambda.invoke(name, JSON.stringify(input))
const pids = (): number[] => lambda.sandboxes.map(({ pid }) => pid)

test('a slow S3 in one slice, then the next slice in the same sandbox: the first answers by name and leaves nothing behind', async () => {
  const [one, other] = [await job(201), await job(202)]
  const slow = http.hold({ path: /000000\.tsv/, part: 'request' }, 3)
  expect(await invoke('register-chunk', one.input)).toMatchObject({ error: { errorType: 'StorageUnreachable' } })
  const before = pids()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { hit } = mysql.arm({ task: TASK, sql: /^update job_chunk/, moment: 'after', act: () => released })
  const second = invoke('register-chunk', other.input)
  await hit
  slow.release()
  await new Promise((resume) => setTimeout(resume, 1_000))
  release()
  expect(await second).toEqual({ payload: JSON.stringify({ chunks: other.chunks, rows: other.file.rows }) })
  expect(pids()).toEqual(before)
  expect(await linesIn(db, other.slice)).toEqual(other.file.lines)
  expect(await markedIn(db, other)).toEqual({ chunks: other.chunks, rows: other.file.rows })
  expect([await linesIn(db, one.slice), await markedIn(db, one)]).toEqual([[], { chunks: 0, rows: 0 }])
})

test('a task whose time is up answers OutOfTime before its sandbox is given up, and the sandbox serves the next', async () => {
  const [one, other] = [await job(203), await job(204)]
  const { item: _, ...input } = one.input
  const { item: __, ...next } = other.input
  const slow = http.hold({ path: /manifest\.json/, part: 'body' }, 1)
  expect(await invoke('begin-registering', input)).toMatchObject({ error: { errorType: 'OutOfTime' } })
  const before = pids()
  expect(await invoke('begin-registering', next)).toMatchObject({ payload: expect.stringContaining('"chunks":') })
  slow.release()
  expect(pids()).toEqual(before)
  expect(lambda.sandboxes.map(({ state }) => state)).not.toContain('abandoned')
})
