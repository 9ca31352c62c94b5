import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import {
  DescribeExecutionCommand,
  type DescribeExecutionOutput,
  GetExecutionHistoryCommand,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import { ACCOUNT, type Place, REGION } from './place.ts'

const POLL_MS = 500
const WAIT_MS = 180_000

/** Waits for what does not take long; fails with its name. */
const until = async <T>(what: string, look: () => Promise<T | undefined>): Promise<T> => {
  const deadline = Date.now() + WAIT_MS
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (Date.now() > deadline) throw new Error(`Waited ${WAIT_MS / 1_000} s in vain for ${what}`)
    await sleep(POLL_MS)
  }
}

/** What a client does in the emulated account. */
export class Account {
  readonly #s3: S3Client
  readonly #sfn: SFNClient

  constructor({ environment, emulator }: Place) {
    const ca = readFileSync(environment.NODE_EXTRA_CA_CERTS ?? '')
    const common = {
      region: REGION,
      endpoint: emulator.url,
      credentials: { accessKeyId: ACCOUNT, secretAccessKey: 'test' },
      requestHandler: { httpsAgent: { ca } },
    }
    this.#s3 = new S3Client({ ...common, forcePathStyle: true })
    this.#sfn = new SFNClient(common)
  }

  async put(bucket: string, key: string, body: string): Promise<void> {
    await this.#s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body }))
  }

  async start(stateMachineArn: string, name: string, input: object): Promise<string> {
    const answer = await this.#sfn.send(
      new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }),
    )
    return answer.executionArn ?? ''
  }

  async describe(executionArn: string): Promise<DescribeExecutionOutput> {
    return await this.#sfn.send(new DescribeExecutionCommand({ executionArn }))
  }

  /** Waits until somebody has started one. */
  async firstExecution(stateMachineArn: string): Promise<string> {
    return await until(`an execution of ${stateMachineArn}`, async () => {
      const { executions } = await this.#sfn.send(new ListExecutionsCommand({ stateMachineArn }))
      return executions?.[0]?.executionArn
    })
  }

  async eventually(what: string, look: () => Promise<boolean>): Promise<void> {
    await until(what, async () => ((await look()) ? true : undefined))
  }

  /** Waits for the end, which must be a success, and reads the output. */
  async succeeded(executionArn: string): Promise<Record<string, unknown>> {
    const ended = await until(`the end of ${executionArn}`, async () => {
      const execution = await this.describe(executionArn)
      return execution.status === 'RUNNING' ? undefined : execution
    })
    if (ended.status === 'SUCCEEDED') return JSON.parse(ended.output ?? '{}') as Record<string, unknown>
    throw new Error(`${executionArn} ended as ${ended.status}: ${ended.error} ${ended.cause}`)
  }

  /**
   * The functions that an execution has called so far, each with its version. The emulator notes the call of a function
   * down as a task.
   */
  async called(executionArn: string): Promise<string[]> {
    const { events } = await this.#sfn.send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1_000 }))
    const resources = (events ?? []).map(
      (event) => event.lambdaFunctionScheduledEventDetails?.resource ?? event.taskScheduledEventDetails?.resource,
    )
    return [...new Set(resources.filter((each) => each !== undefined))]
  }
}
