import { randomBytes } from 'node:crypto'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand, StopExecutionCommand } from '@aws-sdk/client-sfn'
import { Redis } from 'ioredis'
import type { Connection, RowDataPacket } from 'mysql2/promise'
import type { ExecutionRequest } from '../../functions/contract/messages.ts'
import type { Stack } from '../../local/stack.ts'
import { causeText, type Ended, type Output } from './ended.ts'
import { Consumer } from './events.ts'
import type { LockRelay } from './lock-relay.ts'
import { connectOutside } from './outside.ts'
import type { DatabaseRelay } from './relay.ts'
import { type Said, searchSecrets } from './secret-search.ts'
import { type ShareFile, stagedObjects } from './share-file.ts'
import type { StorageRelay } from './storage-relay.ts'
import type { TopicRelay } from './topic-relay.ts'

/** What is between the functions and their stores, where a test asked for it. */
export type Relays = {
  readonly database?: DatabaseRelay | undefined
  readonly lock?: LockRelay | undefined
  readonly storage?: StorageRelay | undefined
  readonly topic?: TopicRelay | undefined
}

export type TestSlice = { readonly distributor: string; readonly month: string }

const REGION = 'ap-northeast-2'
const POLL_MS = 25
const ENDS_WITHIN_MS = 120_000
const SECRETS_SHOWN = 10
/** A running stack, an operator's clients to it, and eyes of our own on its stores. */
export class TestStack {
  /** Digests of the staged sources that `stage` wrote. */
  readonly #staged = new Set<string>()
  readonly stack: Stack
  readonly sfn: SFNClient
  readonly s3: S3Client
  /** The test's own connection; never handed to code under test. */
  outside: Connection
  readonly valkey: Redis
  readonly consumer: Consumer
  readonly #relays: Relays

  private constructor(stack: Stack, outside: Connection, relays: Relays) {
    this.stack = stack
    this.outside = outside
    this.#relays = relays
    const client = { region: REGION, credentials: { accessKeyId: 'test', secretAccessKey: 'test' } }
    this.sfn = new SFNClient({ ...client, endpoint: stack.url })
    this.s3 = new S3Client({ ...client, endpoint: stack.aws.endpoint, forcePathStyle: true })
    this.valkey = new Redis({ host: stack.lock.host, port: stack.lock.port, lazyConnect: true })
    this.valkey.on('error', () => undefined)
    this.consumer = new Consumer(stack.aws)
  }

  static async open(stack: Stack, relays: Relays = {}): Promise<TestStack> {
    return new TestStack(stack, await connectOutside(stack), relays)
  }

  get relay(): DatabaseRelay {
    return given(this.#relays.database)
  }

  get lockRelay(): LockRelay {
    return given(this.#relays.lock)
  }

  get storageRelay(): StorageRelay {
    return given(this.#relays.storage)
  }

  get topicRelay(): TopicRelay {
    return given(this.#relays.topic)
  }

  disarm(): void {
    for (const relay of Object.values(this.#relays)) relay?.disarmAll()
  }

  /** StartExecution, of the job's machine if no other is named; returns the ARN. */
  async start(
    request: ExecutionRequest | object,
    name?: string,
    stateMachineArn: string = this.stack.machineArn,
  ): Promise<string> {
    await this.#makeKnown(request)
    const input = JSON.stringify(request)
    const command = new StartExecutionCommand({ stateMachineArn, input, name })
    return (await this.sfn.send(command)).executionArn ?? ''
  }

  /** A staged source may be named only where the distributor had it before: an old job, closed long ago, says so. */
  async #makeKnown(request: object): Promise<void> {
    const { distributor, source } = request as { distributor?: string; source?: { staged?: string } }
    if (distributor === undefined || !this.#staged.has(source?.staged ?? '')) return
    await this.outside.query(
      `insert into job (distributor_id, settlement_month, state, fence, execution, requested_by, source_digest,
                        source_rows, source_share_sum, closed_at)
       select id, '2000-01-01', 'DELETING', ?, 'long ago', 'test', ?, 1, 1, current_timestamp(6)
       from distributor where code = ?`,
      [randomBytes(3).readUIntBE(0, 3), source?.staged, distributor],
    )
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
        return { ...end, cause: causeText(cause), output: JSON.parse(output ?? '{}') as Output }
      }
      if (Date.now() > deadline) throw new Error(`${executionArn} still runs after ${withinMs} ms`)
      await new Promise((resume) => setTimeout(resume, POLL_MS))
    }
  }

  async run(request: ExecutionRequest | object, name?: string): Promise<Ended> {
    return await this.ended(await this.start(request, name))
  }

  /** A new distributor, whose slices no other test touches. */
  async newSlice(
    month = '2026-10',
    rules: { sumRule?: string; partyScheme?: string; overClaim?: string } = {},
  ): Promise<TestSlice> {
    const distributor = `D${randomBytes(4).toString('hex')}`
    await this.outside.query(
      'insert into distributor (code, name, active, sum_rule, party_scheme, over_claim) values (?, ?, true, ?, ?, ?)',
      [
        ...[distributor, `Distributor ${distributor}`, rules.sumRule ?? 'at-most', rules.partyScheme ?? 'opaque'],
        rules.overClaim ?? 'refuse',
      ],
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
    this.#staged.add(digest)
    return { staged: digest }
  }

  async rows<Row>(sql: string, params: (string | number)[] = []): Promise<Row[]> {
    const [rows] = await this.outside.query<RowDataPacket[]>(sql, params)
    return rows as Row[]
  }

  /** Rows of an older system: no job ever wrote them. */
  async seed(slice: TestSlice, file: ShareFile, slot: 0 | 1 = 0): Promise<void> {
    const [found] = await this.rows<{ id: number }>('select id from distributor where code = ?', [slice.distributor])
    const rows = file.lines.map((line) => [found?.id, `${slice.month}-01`, slot, ...line.split('\t')])
    for (let start = 0; start < rows.length; start += 5_000)
      await this.outside.query('insert into share_ratio values ?', [rows.slice(start, start + 5_000)])
  }

  lockKey({ distributor, month }: TestSlice): string {
    return `{sharelock:${distributor}:${month}}:lock`
  }

  /** After MySQL was killed our own connection is as dead as the functions'. */
  async reconnect(): Promise<void> {
    this.outside.destroy()
    this.outside = await connectOutside(this.stack)
  }

  /** What operators were told; searched for secrets when the stack stops. */
  readonly told: Said[] = []

  /** Stops the stack, and fails where anything it said had a secret in it. */
  async close(): Promise<void> {
    // Before the run's folder goes, and its logs with it.
    const found = await searchSecrets(this.stack, this.told).finally(() => this.#stop())
    if (found.length > 0) throw new Error(`Secrets were told:\n${found.slice(0, SECRETS_SHOWN).join('\n')}`)
  }

  async #stop(): Promise<void> {
    this.valkey.disconnect()
    this.sfn.destroy()
    this.s3.destroy()
    this.outside.destroy()
    await this.stack.stop()
    for (const relay of Object.values(this.#relays)) await relay?.stop()
  }
}

const given = <Relay>(relay: Relay | undefined): Relay => {
  if (relay === undefined) throw new Error('This stack was started without that relay')
  return relay
}
