import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import {
  DescribeExecutionCommand,
  type DescribeExecutionOutput,
  paginateGetExecutionHistory,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn'
import type { ExecutionRequest } from '../functions/contract/messages.ts'
import { REGION, type Stack } from '../local/stack.ts'

/**
 * What is done beside the operator's operations: the distributor's upload and the schedule's start. decisions.md, "npm
 * start is an operator".
 */
export class SdkClient {
  readonly #stack: Stack
  readonly #s3: S3Client
  readonly #sfn: SFNClient

  constructor(stack: Stack) {
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
    this.#stack = stack
    this.#s3 = new S3Client({ region: REGION, endpoint: stack.aws.endpoint, credentials, forcePathStyle: true })
    this.#sfn = new SFNClient({ region: REGION, endpoint: stack.url, credentials })
  }

  async upload(key: string, path: string): Promise<void> {
    const { size } = await stat(path)
    const Body = createReadStream(path)
    await this.#s3.send(new PutObjectCommand({ Bucket: this.#stack.aws.bucket, Key: key, Body, ContentLength: size }))
  }

  /** @returns the execution's ARN */
  async start(name: string, request: ExecutionRequest): Promise<string> {
    const { executionArn } = await this.#sfn.send(
      new StartExecutionCommand({ stateMachineArn: this.#stack.machineArn, name, input: JSON.stringify(request) }),
    )
    return executionArn ?? ''
  }

  async describe(executionArn: string): Promise<DescribeExecutionOutput> {
    return await this.#sfn.send(new DescribeExecutionCommand({ executionArn }))
  }

  /** Milliseconds from entering one state until leaving another, as the execution's history has them; undefined if not. */
  async between(executionArn: string, entered: string, exited: string): Promise<number | undefined> {
    let from: number | undefined
    let to: number | undefined
    for await (const { events } of paginateGetExecutionHistory({ client: this.#sfn }, { executionArn }))
      for (const event of events ?? []) {
        if (event.stateEnteredEventDetails?.name === entered) from ??= event.timestamp?.getTime()
        if (event.stateExitedEventDetails?.name === exited) to = event.timestamp?.getTime()
      }
    return from === undefined || to === undefined ? undefined : to - from
  }

  close(): void {
    this.#s3.destroy()
    this.#sfn.destroy()
  }
}
