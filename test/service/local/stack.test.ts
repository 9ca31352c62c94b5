import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { DescribeExecutionCommand, SFNClient, StartExecutionCommand } from '@aws-sdk/client-sfn'
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { RUNS } from '../../../local/host/paths.ts'
import { type Stack, type StackOptions, startStack } from '../../../local/stack.ts'
import { isRunning, OBEDIENT, until, writeApp } from './app.ts'

/** Works on what it is told in its input; a failure of its sandbox is retried. */
const MACHINE = {
  StartAt: 'Obedient',
  States: {
    Obedient: {
      Type: 'Task',
      Resource: '@Obedient@',
      TimeoutSeconds: 30,
      Retry: [{ ErrorEquals: ['Lambda.Unknown'], IntervalSeconds: 1, MaxAttempts: 2 }],
      End: true,
    },
  },
}

const app = writeApp({ Obedient: { code: OBEDIENT }, HaltJob: { code: OBEDIENT } }, { JobMachine: MACHINE })
let stack: Stack

/** On the servers of the test run, as with addresses in the environment. */
const shared = (): StackOptions => {
  const { mysql, valkey } = { mysql: inject('mysql'), valkey: inject('valkey') }
  return {
    app,
    env: {
      SHARELOCK_MYSQL: `${mysql.host}:${mysql.port}`,
      SHARELOCK_MYSQL_USER: mysql.user,
      SHARELOCK_MYSQL_PASSWORD: mysql.password,
      SHARELOCK_VALKEY: `${valkey.host}:${valkey.port}`,
    },
    pace: { retryMs: 10 },
  }
}

beforeAll(async () => {
  stack = await startStack(shared())
})
afterAll(() => stack.stop())

const client = (endpoint: string) => ({
  region: 'ap-northeast-2',
  endpoint,
  credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
})

const run = async (input: object, on = stack) => {
  const execution = on.engine.start(on.machineArn, JSON.stringify(input))
  await execution.ended
  return execution
}

test('the machine, the functions and their variables come from the template', async () => {
  expect(stack.machineArns).toEqual({ JobMachine: stack.machineArn })
  expect(stack.lambda.functionNames.sort()).toEqual(['HaltJob', 'Obedient'])
  const sfn = new SFNClient(client(stack.url))
  const { executionArn } = await sfn.send(new StartExecutionCommand({ stateMachineArn: stack.machineArn }))
  await stack.engine.execution(executionArn ?? '').ended
  const { output } = await sfn.send(new DescribeExecutionCommand({ executionArn }))
  const { variables } = JSON.parse(output ?? '')
  const { DATABASE_PORT, DATABASE_NAME, LOCK_PORT, BUCKET, TOPIC_ARN, AWS_ENDPOINT_URL_S3 } = stack.environment
  expect(variables).toMatchObject({ STAGE: 'local', DATABASE_PORT, DATABASE_NAME, LOCK_PORT, BUCKET, TOPIC_ARN })
  expect(variables).toMatchObject({ AWS_ENDPOINT_URL_S3, DATABASE_USER: 'sharelock_app', DATABASE_TLS: 'off' })
  sfn.destroy()
})

test('objects beyond 11 MB go in and come out, and what is published arrives in the queue', async () => {
  const { aws } = stack
  const s3 = new S3Client(client(aws.endpoint))
  const Body = Buffer.alloc(20_000_000, 'x')
  await s3.send(new PutObjectCommand({ Bucket: aws.bucket, Key: 'incoming/a b.csv', Body }))
  const { ContentLength } = await s3.send(new GetObjectCommand({ Bucket: aws.bucket, Key: 'incoming/a b.csv' }))
  expect(ContentLength).toBe(20_000_000)
  await new SNSClient(client(aws.endpoint)).send(new PublishCommand({ TopicArn: aws.topicArn, Message: '{"a":1}' }))
  const received = await new SQSClient(client(aws.endpoint)).send(
    new ReceiveMessageCommand({ QueueUrl: aws.queueUrl, WaitTimeSeconds: 5 }),
  )
  expect(received.Messages?.map((message) => message.Body)).toEqual(['{"a":1}'])
})

test('a task whose sandbox is killed is retried in a new one', async () => {
  const victims: number[] = []
  const stopListening = stack.lambda.onInvoke(({ sandbox }) => {
    victims.push(sandbox.pid)
    if (victims.length === 1) process.kill(sandbox.pid, 'SIGKILL')
  })
  const execution = await run({})
  stopListening()
  expect(execution.status).toBe('SUCCEEDED')
  expect(victims).toHaveLength(2)
  expect(victims[0]).not.toBe(victims[1])
})

test('an execution that ends without success is told to HaltJob, one that succeeds is not', async () => {
  const events: unknown[] = []
  const stopListening = stack.lambda.onInvoke(({ functionName, event }) => {
    if (functionName === 'HaltJob') events.push(event)
  })
  await run({})
  const failed = await run({ error: 'ChunkMismatch' })
  await stack.lambda.settled()
  stopListening()
  expect(events).toHaveLength(1)
  expect(events[0]).toMatchObject({
    'detail-type': 'Step Functions Execution Status Change',
    detail: { executionArn: failed.arn, status: 'FAILED', error: 'ChunkMismatch' },
  })
})

test('two stacks at once have nothing in common', async () => {
  const other = await startStack(shared())
  expect(other.database.name).not.toBe(stack.database.name)
  expect(other.url).not.toBe(stack.url)
  expect(other.folder).not.toBe(stack.folder)
  expect((await run({}, other)).status).toBe('SUCCEEDED')
  const { folder } = other
  const pids = [other.aws.pid, ...other.lambda.sandboxes.map(({ pid }) => pid)]
  await other.stop()
  expect(pids.filter(isRunning)).toEqual([])
  expect(existsSync(folder)).toBe(false)
})

test('a stack that cannot start leaves nothing behind', async () => {
  // Other processes may have stacks of their own; a run's name carries the process.
  const runs = () => readdirSync(RUNS).filter((name) => name.includes(`-${process.pid}-`))
  const before = runs()
  const failing = startStack({ ...shared(), prepare: () => Promise.reject(new Error('no migrations today')) })
  await expect(failing).rejects.toThrow('no migrations today')
  await expect(startStack({ ...shared(), app: join(app, 'asset.HaltJob') })).rejects.toThrow('There is no template')
  expect(runs()).toEqual(before)
})

type Report = { pids: number[]; folder: string }

/** A process with a stack of its own, servers included. */
const startParent = async (): Promise<{ parent: ChildProcess; report: Report }> => {
  const parent = spawn(process.execPath, [join(import.meta.dirname, 'parent.ts'), app], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const line = await new Promise<string>((resolve, reject) => {
    if (parent.stdout !== null) createInterface({ input: parent.stdout }).once('line', resolve)
    parent.once('exit', () => reject(new Error('The parent ended while starting')))
  })
  return { parent, report: JSON.parse(line) as Report }
}

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a parent that gets %s leaves no process and no file behind',
  async (signal) => {
    const { parent, report } = await startParent()
    expect(report.pids).toHaveLength(4)
    expect(report.pids.filter(isRunning)).toEqual(report.pids)
    parent.kill(signal)
    await until('all processes are gone', () => !report.pids.some(isRunning))
    await until('the folder is gone', () => !existsSync(report.folder))
  },
)
