import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from 'aws-lambda'
import { afterAll, afterEach, beforeAll, expect, inject, vi } from 'vitest'
import { type AwsServer, startAws } from '../../local/servers/aws.ts'
import { HttpRelay } from './http-relay.ts'
import { LockRelay } from './lock-relay.ts'
import { linesIn, markedIn, type Registering, registering } from './registering.ts'
import { DatabaseRelay } from './relay.ts'
import { useTestDatabase } from './test-database.ts'

/*
 * The handlers RegisterChunk and PublishEvents in this process, with relays before their stores that hold each of their
 * waits.
 */

/** The test's database; every file that imports this has one of its own. */
export const db = useTestDatabase('invocations')
const TASK = 'it'
let folder: string
let aws: AwsServer
let mysql: DatabaseRelay
let valkey: LockRelay
export let http: HttpRelay
export let registerChunk: (event: unknown, context: Context) => Promise<unknown>
export let publishEvents: typeof registerChunk

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sharelock-invocations-'))
  aws = await startAws(folder, 'ap-northeast-2', { bucket: 'inv', topic: 'inv', queue: 'inv' })
  mysql = await DatabaseRelay.start()
  valkey = await LockRelay.start()
  http = await HttpRelay.start()
  mysql.target = { host: db.address.DATABASE_HOST, port: db.address.DATABASE_PORT }
  valkey.target = inject('valkey')
  http.target = { host: '127.0.0.1', port: aws.port }
  for (const relay of [mysql, valkey]) relay.ownerOf = () => ({ pid: process.pid, task: TASK })
  const environment = {
    ...{ STAGE: 'test', BUCKET: aws.bucket, TOPIC_ARN: aws.topicArn },
    ...{ AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local', POWERTOOLS_LOG_LEVEL: 'SILENT' },
    POWERTOOLS_METRICS_DISABLED: 'true',
    ...{ AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${http.port}`, AWS_ENDPOINT_URL_SNS: `http://127.0.0.1:${http.port}` },
    ...{ LOCK_HOST: '127.0.0.1', LOCK_PORT: String(valkey.port), LOCK_AUTH: 'none', LOCK_TLS: 'off' },
    ...{ DATABASE_HOST: '127.0.0.1', DATABASE_PORT: String(mysql.port), DATABASE_NAME: db.address.DATABASE_NAME },
    ...{ DATABASE_USER: db.address.DATABASE_USER, DATABASE_PASSWORD: db.address.DATABASE_PASSWORD },
    ...{ DATABASE_AUTH: 'password', DATABASE_TLS: 'off', AWS_REGION: 'ap-northeast-2' },
  }
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  registerChunk = (await import('../../functions/handlers/register-chunk.ts')).handler
  publishEvents = (await import('../../functions/handlers/publish-events.ts')).handler
})
afterEach(() => {
  for (const relay of [mysql, valkey, http]) relay.disarmAll()
  for (const socket of silent.sockets.splice(0)) socket.destroy()
  silent.server?.close()
  vi.useRealTimers()
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await Promise.all([mysql.stop(), valkey.stop(), http.stop()])
  await aws.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A context of Lambda's with five minutes left. */
export const contextNow = (leftMs = 300_000): Context => {
  const endsAt = performance.now() + leftMs
  return { getRemainingTimeInMillis: () => endsAt - performance.now() } as Context
}

let jobs = 0
export const job = (): Promise<Registering> => {
  jobs += 1
  return registering({ db, aws, valkey: inject('valkey') }, jobs)
}

/** Where something is held up, and how to let it go on. */
export type Stuck = { readonly hit: Promise<unknown>; readonly release: () => void }

export const atStatement = (sql: RegExp, moment: 'before' | 'after', skip = 0): Stuck => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { hit } = mysql.arm({ task: TASK, sql, moment, skip, act: () => released })
  return { hit, release }
}

const atLock = (moment: 'before' | 'after'): Stuck => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { hit } = valkey.arm({ task: TASK, moment, act: () => released })
  return { hit, release }
}

/** The connection that was kept is gone, and a new one is under way. */
const atSession = (): Stuck => {
  mysql.cutAll()
  return atStatement(/^set /, 'before')
}

/** A server that accepts and says nothing. */
const silent: { server?: Server; readonly sockets: Socket[] } = { sockets: [] }

const atConnect = async (): Promise<Stuck> => {
  const { promise: hit, resolve } = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    silent.sockets.push(socket.on('error', () => undefined))
    mysql.target = { host: db.address.DATABASE_HOST, port: db.address.DATABASE_PORT }
    resolve()
  })
  silent.server = server
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  mysql.cutAll()
  mysql.target = { host: '127.0.0.1', port: (server.address() as { port: number }).port }
  return { hit, release: () => silent.sockets[0]?.destroy() }
}

/** The connection that was kept has gone silent, and is old enough to be asked whether it lives. */
const atPing = async (): Promise<Stuck> => {
  const last = mysql.arm({ task: TASK, sql: /^commit$/, moment: 'after', skip: 2, act: () => undefined })
  await registerChunk((await job()).input, contextNow())
  const statement = await last.hit
  statement.mute()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
  return { hit: new Promise((resume) => setTimeout(resume, 100)), release: () => statement.cut() }
}

/** The first chunk of the job is not what the ledger says, so its transaction is rolled back. */
export const atRollback = async ({ input }: Registering): Promise<Stuck> => {
  await db.outside.change('update job_chunk set row_count = row_count + 1 where job_id = ? and number = 0', [
    input.job.id,
  ])
  return atStatement(/^rollback/, 'before')
}

export const WAITS: readonly (readonly [name: string, stick: (first: Registering) => Stuck | Promise<Stuck>])[] = [
  ['connecting', atConnect],
  ['setting its session', atSession],
  ['pinging', atPing],
  ['reading its job', () => atStatement(/^select .* from job j\s+where/s, 'before')],
  ['reading its ledger', () => atStatement(/from job_chunk/, 'after')],
  ['a request to S3', () => http.hold({ path: /000000\.tsv/, part: 'request' })],
  ['the body of an object', () => http.hold({ path: /000000\.tsv/, part: 'body' })],
  ['the object after next', () => http.hold({ path: /000001\.tsv/, part: 'body' })],
  ['a command to Valkey', () => atLock('before')],
  ["Valkey's answer", () => atLock('after')],
  ['beginning', () => atStatement(/^start transaction/, 'before')],
  ['having begun', () => atStatement(/^start transaction/, 'after')],
  ['the guard', () => atStatement(/for share/, 'before')],
  ['having met the guard', () => atStatement(/for share/, 'after')],
  ['marking', () => atStatement(/^update job_chunk/, 'before')],
  ['having marked', () => atStatement(/^update job_chunk/, 'after')],
  ['loading', () => atStatement(/^load data/, 'before')],
  ['having loaded', () => atStatement(/^load data/, 'after')],
  ['committing', () => atStatement(/^commit/, 'before')],
  ['having committed', () => atStatement(/^commit/, 'after')],
  ['rolling back', atRollback],
]

/** Whatever the first one left: each marked chunk has its rows, and there are no others. */
export const expectConsistent = async (one: Registering): Promise<void> => {
  const lines = await linesIn(db, one.slice)
  const { rows } = await markedIn(db, one)
  expect(lines).toHaveLength(rows)
  expect(one.file.lines).toEqual(expect.arrayContaining(lines))
}
