import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context } from 'aws-lambda'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { failuresOf } from '../../functions/contract/errors.ts'
import { ANSWER_RESERVE_MS } from '../../functions/contract/limits.ts'
import { type AwsServer, startAws } from '../../local/servers/aws.ts'
import { HttpRelay } from '../support/http-relay.ts'
import { LockRelay } from '../support/lock-relay.ts'
import { linesIn, markedIn, type Registering, registering } from '../support/registering.ts'
import { DatabaseRelay } from '../support/relay.ts'
import { useTestDatabase } from '../support/test-database.ts'

/*
 * Two invocations in one process, the first one stuck at each of its waits. On Lambda this is a sandbox that answered for
 * a task before it had ended, and was frozen in the middle of it.
 */
const db = useTestDatabase('invocations')
const TASK = 'it'
let folder: string
let aws: AwsServer
let mysql: DatabaseRelay
let valkey: LockRelay
let http: HttpRelay
let registerChunk: (event: unknown, context: Context) => Promise<unknown>
let publishEvents: typeof registerChunk

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
const contextNow = (leftMs = 300_000): Context => {
  const endsAt = performance.now() + leftMs
  return { getRemainingTimeInMillis: () => endsAt - performance.now() } as Context
}

let jobs = 0
const job = (): Promise<Registering> => {
  jobs += 1
  return registering({ db, aws, valkey: inject('valkey') }, jobs)
}

/** Where something is held up, and how to let it go on. */
type Stuck = { readonly struck: Promise<unknown>; readonly release: () => void }

const atStatement = (sql: RegExp, moment: 'before' | 'after', skip = 0): Stuck => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { struck } = mysql.arm({ task: TASK, sql, moment, skip, act: () => released })
  return { struck, release }
}

const atLock = (moment: 'before' | 'after'): Stuck => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { struck } = valkey.arm({ task: TASK, moment, act: () => released })
  return { struck, release }
}

/** The connection that was kept is gone, and a new one is under way. */
const atSession = (): Stuck => {
  mysql.cutAll()
  return atStatement(/^set /, 'before')
}

/** A server that accepts and says nothing. */
const silent: { server?: Server; readonly sockets: Socket[] } = { sockets: [] }

const atConnect = async (): Promise<Stuck> => {
  const { promise: struck, resolve } = Promise.withResolvers<void>()
  const server = createServer((socket) => {
    silent.sockets.push(socket.on('error', () => undefined))
    mysql.target = { host: db.address.DATABASE_HOST, port: db.address.DATABASE_PORT }
    resolve()
  })
  silent.server = server
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  mysql.cutAll()
  mysql.target = { host: '127.0.0.1', port: (server.address() as { port: number }).port }
  return { struck, release: () => silent.sockets[0]?.destroy() }
}

/** The connection that was kept has gone silent, and is old enough to be asked whether it lives. */
const atPing = async (): Promise<Stuck> => {
  const last = mysql.arm({ task: TASK, sql: /^commit$/, moment: 'after', skip: 2, act: () => undefined })
  await registerChunk((await job()).input, contextNow())
  const statement = await last.struck
  statement.mute()
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
  return { struck: new Promise((resume) => setTimeout(resume, 100)), release: () => statement.cut() }
}

/** The first chunk of the job is not what the ledger says, so its transaction is rolled back. */
const atRollback = async ({ input }: Registering): Promise<Stuck> => {
  await db.outside.change('update job_chunk set row_count = row_count + 1 where job_id = ? and number = 0', [
    input.job.id,
  ])
  return atStatement(/^rollback/, 'before')
}

const WAITS: readonly (readonly [name: string, stick: (first: Registering) => Stuck | Promise<Stuck>])[] = [
  ['connecting', atConnect],
  ['setting its session', atSession],
  ['pinging', atPing],
  ['reading its job', () => atStatement(/^select .* from job where/, 'before')],
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
const expectConsistent = async (one: Registering): Promise<void> => {
  const lines = await linesIn(db, one.slice)
  const { rows } = await markedIn(db, one)
  expect(lines).toHaveLength(rows)
  expect(one.file.lines).toEqual(expect.arrayContaining(lines))
}

const LATE_MS = 500

describe('an invocation that is stuck when the next one begins in its sandbox', () => {
  test.each(WAITS)('at %s: it ends by name, and nothing of it takes effect in the next', async (_, stick) => {
    const [one, other] = [await job(), await job()]
    const stuck = await stick(one)
    const first = registerChunk(one.input, contextNow()).catch((error: unknown) => error)
    await stuck.struck
    // The next one is in the middle of its transaction when the first is let go.
    const inTransaction = atStatement(/^update job_chunk/, 'after')
    const second = registerChunk(other.input, contextNow())
    await inTransaction.struck
    stuck.release()
    await new Promise((resume) => setTimeout(resume, LATE_MS))
    inTransaction.release()
    expect(await second).toEqual({ chunks: other.chunks, rows: other.file.rows })
    // A roll-back has its reason, which is the failure.
    expect(await first).toMatchObject({ name: stick === atRollback ? 'ChunkMismatch' : 'InvocationOver' })
    expect(await linesIn(db, other.slice)).toEqual(other.file.lines)
    expect(await markedIn(db, other)).toEqual({ chunks: other.chunks, rows: other.file.rows })
    await expectConsistent(one)
    // And the first slice's chunks can be done by the attempt that follows.
    if (stick === atRollback) return
    await registerChunk(one.input, contextNow())
    expect(await linesIn(db, one.slice)).toEqual(one.file.lines)
  })

  test('at the topic: it ends by name, and marks no event', async () => {
    const event = async ({ input: { job } }: Registering): Promise<void> => {
      await db.outside.change(
        `insert into outbox (event_id, job_id, type, payload) values (uuid(), ?, 'JobRegistered', '{}')`,
        [job.id],
      )
    }
    const pending = async ({ input: { job } }: Registering): Promise<number> =>
      (await db.outside.rows('select 1 from outbox where job_id = ? and published_at is null', [job.id])).length
    const [one, other] = [await job(), await job()]
    await event(one)
    await event(other)
    const stuck = http.hold({ path: /^\/$/, part: 'request' })
    const first = publishEvents({ job: one.input.job }, contextNow(60_000)).catch((error: unknown) => error)
    await stuck.struck
    expect(await publishEvents({ job: other.input.job }, contextNow(60_000))).toMatchObject({
      published: 1,
      pending: 0,
    })
    stuck.release()
    expect(await first).toMatchObject({ name: 'InvocationOver' })
    await new Promise((resume) => setTimeout(resume, LATE_MS))
    expect([await pending(one), await pending(other)]).toEqual([1, 0])
  })
})

describe('an invocation that is stuck until its time is up', () => {
  const TRANSIENT = failuresOf('transient').filter((name) => name !== 'InvocationOver')
  /** Waits end after this, and Lambda would end the process ANSWER_RESERVE_MS later. */
  const TIME_MS = 1_500

  test.each(WAITS)(
    'at %s: it answers by the name of a failure that is retried, and the next is exact',
    async (_, stick) => {
      const [one, other] = [await job(), await job()]
      const stuck = await stick(one)
      // A chunk loop would not begin with so little left, so its own look at the clock sees more.
      let looks = 0
      const getRemainingTimeInMillis = () => {
        looks += 1
        return looks === 1 ? TIME_MS + ANSWER_RESERVE_MS : 300_000
      }
      const context = { getRemainingTimeInMillis } as Context
      const end = await registerChunk(one.input, context).catch((error: unknown) => error)
      if (stick !== atRollback) expect(TRANSIENT).toContain((end as Error).name)
      stuck.release()
      expect(await registerChunk(other.input, contextNow())).toEqual({ chunks: other.chunks, rows: other.file.rows })
      expect(await linesIn(db, other.slice)).toEqual(other.file.lines)
      await expectConsistent(one)
    },
  )

  test('at a silent topic: its run waits for seconds, the events stay, and the sweeper may send them', async () => {
    const { input } = await job()
    for (let events = 0; events < 3; events += 1)
      await db.outside.change(
        `insert into outbox (event_id, job_id, type, payload) values (uuid(), ?, 'JobRegistered', '{}')`,
        [input.job.id],
      )
    const stuck = http.hold({ path: /^\/$/, part: 'request' }, 100)
    const startedAt = performance.now()
    expect(await publishEvents({ job: input.job }, contextNow(60_000))).toMatchObject({
      published: 0,
      pending: 3,
      failure: expect.stringContaining('SNS did not answer'),
    })
    // The bound is 5 s; a busy machine takes its time for the rest.
    expect(performance.now() - startedAt).toBeLessThan(15_000)
    http.disarmAll()
    stuck.release()
    expect(await publishEvents({ job: input.job }, contextNow(60_000))).toMatchObject({ published: 3, pending: 0 })
  })
})
