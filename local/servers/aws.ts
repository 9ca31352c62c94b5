import { fork } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { AwsServerConfig } from './aws-server.ts'
import { unwatchProcess, watchProcess } from './watchdog-client.ts'

export type AwsNames = {
  readonly bucket: string
  readonly topic: string
  readonly queue: string
  /** A second topic, without a subscriber. */
  readonly notices?: string
}

/** The account number in every local ARN; it is the one fauxqs uses. */
export const ACCOUNT = '000000000000'

export type AwsServer = {
  readonly endpoint: string
  readonly port: number
  readonly pid: number
  readonly bucket: string
  readonly topicArn: string
  readonly queueUrl: string
  readonly stop: () => Promise<void>
}

/** Starts S3, SNS and SQS with one bucket, one topic and one queue subscribed to it (messages as published). */
export const startAws = async (folder: string, region: string, names: AwsNames, wanted = 0): Promise<AwsServer> => {
  mkdirSync(folder, { recursive: true })
  const log = openSync(join(folder, 'aws.log'), 'a')
  const config: AwsServerConfig = {
    region,
    storage: join(folder, 's3'),
    port: wanted,
    init: {
      buckets: [names.bucket],
      topics: [names.topic, names.notices].flatMap((name) => (name === undefined ? [] : [{ name }])),
      queues: [{ name: names.queue }],
      subscriptions: [{ topic: names.topic, queue: names.queue, attributes: { RawMessageDelivery: 'true' } }],
    },
  }
  const child = fork(join(import.meta.dirname, 'aws-server.ts'), [JSON.stringify(config)], {
    stdio: ['ignore', log, log, 'ipc'],
    execArgv: [],
  })
  closeSync(log)
  const { pid } = child
  if (pid === undefined) throw new Error(`The S3, SNS and SQS server does not start; see ${join(folder, 'aws.log')}`)
  watchProcess(pid)
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      unwatchProcess(pid)
      resolve()
    })
  })
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve((message as { port: number }).port))
    child.once('exit', () => reject(new Error(`The S3, SNS and SQS server ended; see ${join(folder, 'aws.log')}`)))
  })
  const endpoint = `http://127.0.0.1:${port}`
  return {
    endpoint,
    port,
    pid,
    bucket: names.bucket,
    topicArn: `arn:aws:sns:${region}:${ACCOUNT}:${names.topic}`,
    queueUrl: `${endpoint}/${ACCOUNT}/${names.queue}`,
    stop: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
