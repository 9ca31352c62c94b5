import { randomBytes } from 'node:crypto'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn'
import { Redis } from 'ioredis'
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise'
import { afterAll, afterEach, beforeAll, inject } from 'vitest'
import type { ExecutionRequest } from '../../functions/contract/messages.ts'
import { type Stack, type StackOptions, startStack } from '../../local/stack.ts'
import { DatabaseRelay, ownerOfPort } from './relay.ts'
import { type ShareFile, stagedObjects } from './share-file.ts'

/** How an execution ended, as DescribeExecution tells it. */
export type Ended = {
  readonly arn: string
  readonly name: string
  readonly status: string
  readonly error: string | undefined
  readonly cause: string
  readonly output: Output
}

/** What tests look at in the final state of an execution. */
export type Output = {
  readonly job?: { readonly id: number; readonly fence: number; readonly state: string; readonly outcome: string }
  readonly staged?: { readonly digest: string; readonly rows: number; readonly chunks: number }
  readonly lock?: { readonly held: boolean }
  readonly reacquire?: { readonly count: number }
  readonly publish?: { readonly published: number }
  readonly release?: { readonly released: boolean }
}

export type TestSlice = { readonly distributor: string; readonly month: string }

export type UseStackOptions = Omit<StackOptions, 'env'> & {
  /** Servers that this file may stop and break, and so are its own; the others are shared with all files. */
  readonly own?: readonly ('mysql' | 'valkey')[]
  /** Puts the relay between the functions and MySQL. */
  readonly relay?: boolean
}

const REGION = 'ap-northeast-2'
const POLL_MS = 25
const ENDS_WITHIN_MS = 120_000
/** Backoffs are for production: a retry follows almost at once here. */
const PACE = { retryMs: 50 }

/** A running stack, an operator's clients to it, and eyes of our own on its stores. */
export class TestStack {
  readonly stack: Stack
  readonly sfn: SFNClient
  readonly s3: S3Client
  /** The test's own connection; never handed to code under test. */
  readonly outside: Connection
  readonly valkey: Redis
  readonly #relay: DatabaseRelay | undefined

  constructor(stack: Stack, outside: Connection, relay: DatabaseRelay | undefined) {
    this.stack = stack
    this.outside = outside
    this.#relay = relay
    const client = { region: REGION, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } }
    this.sfn = new SFNClient({ ...client, endpoint: stack.url })
    this.s3 = new S3Client({ ...client, endpoint: stack.aws.endpoint, forcePathStyle: true })
    this.valkey = new Redis({ host: stack.lock.host, port: stack.lock.port, lazyConnect: true })
    this.valkey.on('error', () => undefined)
  }

  get relay(): DatabaseRelay {
    if (this.#relay === undefined) throw new Error('This file uses its stack without the relay')
    return this.#relay
  }

  disarm(): void {
    this.#relay?.disarmAll()
  }

  /** StartExecution; returns the ARN. */
  async start(request: ExecutionRequest | object, name?: string): Promise<string> {
    const input = JSON.stringify(request)
    const command = new StartExecutionCommand({ stateMachineArn: this.stack.machineArn, input, name })
    return (await this.sfn.send(command)).executionArn ?? ''
  }

  async stop(executionArn: string): Promise<void> {
    await this.sfn.send(new StopExecutionCommand({ executionArn }))
  }

  /** Waits for the end of an execution and of what its end sets off. */
  async ended(executionArn: string, withinMs = ENDS_WITHIN_MS): Promise<Ended> {
    const deadline = Date.now() + withinMs
    for (;;) {
      const { status, name, error, cause, output } = await this.sfn.send(new DescribeExecutionCommand({ executionArn }))
      if (status !== 'RUNNING') {
        await this.stack.lambda.settled()
        const end = { arn: executionArn, name: name ?? '', status: status ?? '', error }
        return { ...end, cause: messageOf(cause), output: JSON.parse(output ?? '{}') as Output }
      }
      if (Date.now() > deadline) throw new Error(`${executionArn} still runs after ${withinMs} ms`)
      await new Promise((resume) => setTimeout(resume, POLL_MS))
    }
  }

  async run(request: ExecutionRequest | object, name?: string): Promise<Ended> {
    return await this.ended(await this.start(request, name))
  }

  /** A new distributor, whose slices no other test touches. */
  async newSlice(month = '2026-10', rules: { sumRule?: string; partyScheme?: string } = {}): Promise<TestSlice> {
    const distributor = `D${randomBytes(4).toString('hex')}`
    await this.outside.query(
      'insert into distributor (code, name, active, sum_rule, party_scheme) values (?, ?, true, ?, ?)',
      [distributor, `Distributor ${distributor}`, rules.sumRule ?? 'at-most', rules.partyScheme ?? 'opaque'],
    )
    return { distributor, month }
  }

  async put(key: string, body: string | Buffer): Promise<void> {
    await this.s3.send(new PutObjectCommand({ Bucket: this.stack.aws.bucket, Key: key, Body: body }))
  }

  async get(key: string): Promise<string> {
    const { Body } = await this.s3.send(new GetObjectCommand({ Bucket: this.stack.aws.bucket, Key: key }))
    return (await Body?.transformToString()) ?? ''
  }

  /** Uploads a file; the answer is a request's source. */
  async upload(file: Pick<ShareFile, 'csv'>): Promise<{ key: string }> {
    const key = `incoming/${randomBytes(6).toString('hex')}.csv`
    await this.put(key, file.csv)
    return { key }
  }

  /** Writes a staged source of small chunks; the answer is a request's source. */
  async stage(file: ShareFile, chunkRows: number): Promise<{ staged: string }> {
    const { digest, objects } = stagedObjects(file, chunkRows)
    for (const { key, body } of objects) await this.put(key, body)
    return { staged: digest }
  }

  async rows<Row>(sql: string, params: (string | number)[] = []): Promise<Row[]> {
    const [rows] = await this.outside.query<RowDataPacket[]>(sql, params)
    return rows as Row[]
  }

  /** Rows of an older system: no job ever wrote them. */
  async seed(slice: TestSlice, file: ShareFile): Promise<void> {
    const [found] = await this.rows<{ id: number }>('select id from distributor where code = ?', [slice.distributor])
    const rows = file.lines.map((line) => [found?.id, `${slice.month}-01`, ...line.split('\t')])
    for (let start = 0; start < rows.length; start += 5_000)
      await this.outside.query('insert into share_ratio values ?', [rows.slice(start, start + 5_000)])
  }

  lockKey({ distributor, month }: TestSlice): string {
    return `{sharelock:${distributor}:${month}}:lock`
  }

  async close(): Promise<void> {
    this.valkey.disconnect()
    this.sfn.destroy()
    this.s3.destroy()
    this.outside.destroy()
    await this.stack.stop()
    await this.#relay?.stop()
  }
}

/** A Lambda failure's cause is JSON text, as in AWS; a person reads its message. */
const messageOf = (cause: string | undefined): string => {
  try {
    return String((JSON.parse(cause ?? '') as { errorMessage?: string }).errorMessage)
  } catch {
    return cause ?? ''
  }
}

const sharedServers = (own: readonly string[]): Record<string, string> => {
  const { mysql, valkey } = { mysql: inject('mysql'), valkey: inject('valkey') }
  return {
    ...(own.includes('mysql')
      ? {}
      : {
          SHARELOCK_MYSQL: `${mysql.host}:${mysql.port}`,
          SHARELOCK_MYSQL_USER: mysql.user,
          SHARELOCK_MYSQL_PASSWORD: mysql.password,
        }),
    ...(own.includes('valkey') ? {} : { SHARELOCK_VALKEY: `${valkey.host}:${valkey.port}` }),
  }
}

const start = async ({ own = [], relay: useRelay, ...options }: UseStackOptions): Promise<TestStack> => {
  const relay = useRelay === true ? await DatabaseRelay.start() : undefined
  const variables = { ...options.variables, ...(relay === undefined ? {} : { DATABASE_PORT: String(relay.port) }) }
  // SHARELOCK_APP: a folder that was synthesised before, such as the one that is about to be deployed.
  const app = options.app ?? process.env.SHARELOCK_APP
  const env = { PATH: process.env.PATH, ...sharedServers(own) }
  const stack = await startStack({ pace: PACE, ...options, app, env, variables })
  if (relay !== undefined) {
    relay.target = { host: stack.database.host, port: stack.database.port }
    relay.ownerOf = (port) => {
      const { sandboxes } = stack.lambda
      const pid = ownerOfPort(
        port,
        sandboxes.map((sandbox) => sandbox.pid),
      )
      return pid === undefined ? undefined : { pid, task: sandboxes.find((one) => one.pid === pid)?.fn.name ?? '' }
    }
  }
  const { host, port, name, master } = stack.database
  const outside = await createConnection({ host, port, database: name, ...master, dateStrings: true })
  outside.on('error', () => undefined)
  return new TestStack(stack, outside, relay)
}

/** Starts a stack before the file's tests and stops it after them. */
export const useStack = (options: UseStackOptions = {}): (() => TestStack) => {
  let running: TestStack | undefined
  beforeAll(async () => {
    running = await start(options)
  })
  afterEach(() => running?.disarm())
  afterAll(() => running?.close())
  return () => {
    if (running === undefined) throw new Error('The stack does not run yet')
    return running
  }
}
